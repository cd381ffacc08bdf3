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
