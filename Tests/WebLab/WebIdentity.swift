import LinuxSupport
import NIOCore
import NIOEmbedded
package import NIOSSL
import NIOTLS
package import NetworkLab
import ServerTrust
import SwiftASN1
package import TrustForge
import X509

/// The trusted authority of the lab's servers, and one that is not trusted.
package enum WebAuthority {
    /// The authority of valid certificates.
    package static let root = authority("Web Lab Root")
    /// The authority of an interceptor.
    package static let stranger = authority("Web Lab Stranger")

    private static func authority(_ name: String) -> Forged {
        Blueprint.authority(name).with(\.begins, day(-3650)).with(\.ends, day(3650)).signed()
    }

    /// Returns the time a number of days from now.
    static func day(_ count: Int) -> TrustTime { TrustTime.now.advanced(by: .seconds(86_400 * count)) }

    /// Writes the trusted authority into a file for `SSL_CERT_FILE`. Returns the path.
    package static func write(to directory: ScratchDirectory) throws -> String {
        try directory.write("web-lab-root.pem", [root])
    }
}

/// The certificates and TLS settings of a server of the lab.
package struct WebIdentity: Sendable {
    /// The chain, which starts with the server's certificate.
    package let chain: [Forged]
    /// Whether clients must have a certificate of ``WebAuthority/root``.
    package var demandsCertificate = false
    /// Whether the server supports only TLS 1.0 and 1.1, which are deprecated (RFC 8996).
    package var isOld = false
    /// Whether the server does not support TLS 1.3.
    package var isLimitedTo12 = false

    package init(chain: [Forged]) {
        self.chain = chain
    }

    /// Returns an identity that is valid for names and addresses.
    package static func good(for hosts: String...) -> WebIdentity { WebIdentity(hosts) }
    package static func expired(for hosts: String...) -> WebIdentity { WebIdentity(hosts, days: -60 ... -1) }
    package static func expiring(in days: Int, for hosts: String...) -> WebIdentity {
        WebIdentity(hosts, days: -1...days)
    }
    package static func notYetValid(for hosts: String...) -> WebIdentity { WebIdentity(hosts, days: 30...60) }
    package static func wrongName() -> WebIdentity { WebIdentity(["elsewhere.example"]) }

    /// Returns an identity issued by ``WebAuthority/stranger``.
    package static func otherAuthority(for hosts: String...) -> WebIdentity {
        WebIdentity(hosts, authority: WebAuthority.stranger)
    }

    package static func selfSigned(for hosts: String...) -> WebIdentity {
        WebIdentity(chain: [blueprint(hosts, days: -1...60).signed()])
    }

    private init(_ hosts: [String], days: ClosedRange<Int> = -1...60, authority: Forged = WebAuthority.root) {
        self.init(chain: [Self.blueprint(hosts, days: days).signed(by: authority)])
    }

    private static func blueprint(_ hosts: [String], days: ClosedRange<Int>) -> Blueprint {
        let names: [GeneralName] = hosts.map { host in
            WireAddress(host).map { .ipAddress(ASN1OctetString(contentBytes: $0.bytes[...])) } ?? .dnsName(host)
        }
        var blueprint = Blueprint.leaf(hosts.first ?? "nobody", names: names)
        blueprint.begins = WebAuthority.day(days.lowerBound)
        blueprint.ends = WebAuthority.day(days.upperBound)
        // Real chains do not fit into one TCP segment, so the certificate is padded.
        blueprint.more = [padding]
        return blueprint
    }

    private static let padding = Certificate.Extension(
        oid: [1, 3, 6, 1, 4, 1, 99_999, 1],
        critical: false,
        value: [UInt8](repeating: 0x2e, count: 2500)[...]
    )

    /// - Parameter protocols: The application protocols (ALPN) of the server.
    package func context(protocols: [String] = []) throws -> NIOSSLContext {
        try .server(
            chain,
            versions: isOld ? 0...1 : isLimitedTo12 ? 0...2 : 0...3,
            protocols: protocols,
            clientAnchors: demandsCertificate ? [WebAuthority.root] : []
        )
    }
}

extension NIOSSLContext {
    /// The TLS settings of a server with a forged chain.
    ///
    /// - Parameters:
    ///   - versions: The range of versions; 0 is TLS 1.0, and 3 is TLS 1.3.
    ///   - clientAnchors: The authorities of clients; if empty, no client certificate is requested.
    package static func server(
        _ chain: [Forged],
        versions: ClosedRange<Int> = 2...3,
        protocols: [String] = [],
        clientAnchors: [Forged] = []
    ) throws -> NIOSSLContext {
        try server(
            sent: chain.map(\.der),
            key: chain[0].key.forTLS(),
            versions: versions,
            protocols: protocols,
            clientAnchors: clientAnchors
        )
    }

    /// - Throws: An error of the TLS library if it cannot load a certificate.
    package static func server(
        sent: [[UInt8]],
        key: NIOSSLPrivateKey,
        versions: ClosedRange<Int> = 2...3,
        protocols: [String] = [],
        clientAnchors: [Forged] = []
    ) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try sent.map { .certificate(try NIOSSLCertificate(bytes: $0, format: .der)) },
            privateKey: .privateKey(key)
        )
        let known: [TLSVersion] = [.tlsv1, .tlsv11, .tlsv12, .tlsv13]
        configuration.minimumTLSVersion = known[versions.lowerBound]
        configuration.maximumTLSVersion = known[versions.upperBound]
        configuration.applicationProtocols = protocols
        if !clientAnchors.isEmpty {
            configuration.certificateVerification = .noHostnameVerification
            configuration.trustRoots = .certificates(try clientAnchors.map { try $0.forTLS() })
        }
        return try NIOSSLContext(configuration: configuration)
    }
}

extension ForgeKey {
    package func forTLS() throws -> NIOSSLPrivateKey {
        try NIOSSLPrivateKey(bytes: Array(key.serializeAsPEM().pemString.utf8), format: .pem)
    }
}

/// The TLS layer of one connection of a ``ScriptedServer``: SwiftNIO's TLS handler with a channel in memory, because the threads of that
/// server block and have no event loop.
package final class TLSCoder: StreamCoder {
    private let channel = EmbeddedChannel()
    private let watcher = HandshakeWatcher()
    private let name = Locked<String?>(nil)

    package init(_ context: NIOSSLContext) throws {
        let name = name
        let loop = channel.embeddedEventLoop
        let names = SNIHandler { result in
            name.withLock { if case .hostname(let text) = result { $0 = text } }
            return loop.makeSucceededVoidFuture()
        }
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(ByteToMessageHandler(names))
        try pipeline.addHandler(NIOSSLServerHandler(context: context))
        try pipeline.addHandler(watcher)
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
    }

    /// The layer of each connection; nil for no TLS.
    package static func layer(_ context: NIOSSLContext?) -> ScriptedServer.Coder? {
        guard let context else { return nil }
        return { try TLSCoder(context) }
    }

    package var isReady: Bool { watcher.isReady }
    package var isClosed: Bool { !channel.isActive }
    package var serverName: String? { name.withLock { $0 } }

    package func decode(_ bytes: [UInt8]) throws -> [UInt8] {
        try channel.writeInbound(ByteBuffer(bytes: bytes))
        channel.embeddedEventLoop.run()
        var plain: [UInt8] = []
        while let part = try channel.readInbound(as: ByteBuffer.self) { plain += part.readableBytesView }
        return plain
    }

    package func encode(_ bytes: [UInt8]) throws {
        try channel.writeOutbound(ByteBuffer(bytes: bytes))
    }

    package func end() {
        channel.close(promise: nil)
        channel.embeddedEventLoop.run()
    }

    package func takeOutput() -> [UInt8] {
        var output: [UInt8] = []
        while let part = try? channel.readOutbound(as: ByteBuffer.self) { output += part.readableBytesView }
        return output
    }

    package func abandon() {
        // Closes the channel below the TLS handler, which would wait for the peer's closure alert.
        try? channel.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self).close(promise: nil)
        channel.embeddedEventLoop.run()
    }

    private final class HandshakeWatcher: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        var isReady = false

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case .handshakeCompleted? = event as? TLSUserEvent { isReady = true }
            context.fireUserInboundEventTriggered(event)
        }
    }
}

extension Forged {
    package func forTLS() throws -> NIOSSLCertificate { try NIOSSLCertificate(bytes: der, format: .der) }
}
