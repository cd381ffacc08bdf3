import NIOCore
import NIOSSL
import ServerTrust

/// Whom a connection is for, and what is known of who is there.
struct ConnectionPeer: Sendable {
    /// What the manager is asked about.
    let host: String
    /// What was asked for in the handshake; nil for addresses.
    let serverName: String?
    /// In DER. The handshake has proven that the peer has its key.
    let certificate: [UInt8]
    let remoteAddress: SocketAddress?
    let localAddress: SocketAddress?

    /// - Throws: ``ServerTrustError`` when that cannot be told.
    init(_ handler: NIOSSLClientHandler, on channel: any Channel, isProxied: Bool) throws(ServerTrustError) {
        remoteAddress = channel.remoteAddress
        localAddress = channel.localAddress
        let address = channel.remoteAddress?.ipAddress
        guard let name = handler.serverName else {
            throw Self.error("NIOSSL no longer says what a handshake is for", host: address)
        }
        serverName = name
        if let name {
            host = name
        } else if isProxied {
            throw Self.error("behind a proxy the address that a connection is for is not known", host: nil)
        } else if let address {
            host = address
        } else {
            throw Self.error("a connection that is not over IP has no host to judge", host: nil)
        }
        guard let leaf = handler.peerCertificate, let bytes = try? leaf.toDERBytes() else {
            throw ServerTrustError(reason: .noCertificates, host: host)
        }
        certificate = bytes
    }

    private static func error(_ text: String, host: String?) -> ServerTrustError {
        ServerTrustError(reason: .custom(text), host: host ?? "an unknown host")
    }
}

extension NIOSSLClientHandler {
    /// The name the handshake asked for and verified, nil within if there was none, nil if it cannot be found.
    ///
    /// NIOSSL keeps it to itself, and async-http-client tells nobody whom a connection is for, so it is read by reflection. A
    /// `Host` header would not do: it may be another host than the one the connection is to, and it comes too late.
    var serverName: String?? {
        guard let connection = Self.child("connection", of: Mirror(reflecting: self)),
            let value = Self.child("expectedHostname", of: Mirror(reflecting: connection)),
            let name = value as? String?
        else { return nil }
        return .some(name)
    }

    private static func child(_ label: String, of mirror: Mirror?) -> Any? {
        guard let mirror else { return nil }
        for child in mirror.children where child.label == label { return child.value }
        return child(label, of: mirror.superclassMirror)
    }
}
