import LinuxPrimitives
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import TrustForge

/// A TLS server on 127.0.0.1 that says `hello` when the handshake is done, and keeps the names that clients ask for and what they say.
final class LoopbackServer: Sendable {
    /// What it has seen of one client.
    struct Visit: Hashable, Sendable {
        /// Server Name Indication; nil if there was none.
        var serverName: String?
        var received = ""
        /// Whether its side of the handshake was done.
        var isDone = false
    }

    private let visits: Locked<[Visit]>
    private let visitors: Locked<[any Channel]>
    private let channel: any Channel

    /// - Throws: What the TLS library says about certificates that it does not serve.
    init(
        sent: [[UInt8]],
        key: ForgeKey,
        versions: ClosedRange<Int> = 2...3,
        protocols: [String] = [],
        clientAnchors: [Forged] = [],
        customKey: NIOSSLPrivateKey? = nil
    ) async throws {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try sent.map { .certificate(try NIOSSLCertificate(bytes: $0, format: .der)) },
            privateKey: .privateKey(try customKey ?? key.forTLS())
        )
        let known: [TLSVersion] = [.tlsv1, .tlsv11, .tlsv12, .tlsv13]
        configuration.minimumTLSVersion = known[versions.lowerBound]
        configuration.maximumTLSVersion = known[versions.upperBound]
        configuration.applicationProtocols = protocols
        if !clientAnchors.isEmpty {
            configuration.certificateVerification = .noHostnameVerification
            configuration.trustRoots = .certificates(
                try clientAnchors.map { try NIOSSLCertificate(bytes: $0.der, format: .der) }
            )
        }
        let context = try NIOSSLContext(configuration: configuration)
        let visits = Locked<[Visit]>([])
        self.visits = visits
        let visitors = Locked<[any Channel]>([])
        self.visitors = visitors
        channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    visitors.withLock { $0.append(channel) }
                    let visit = visits.withLock { all in
                        all.append(Visit())
                        return all.count - 1
                    }
                    let pipeline = channel.pipeline.syncOperations
                    let names = SNIHandler { name in
                        visits.withLock { if case .hostname(let text) = name { $0[visit].serverName = text } }
                        return channel.eventLoop.makeSucceededVoidFuture()
                    }
                    try pipeline.addHandler(ByteToMessageHandler(names))
                    try pipeline.addHandler(NIOSSLServerHandler(context: context))
                    try pipeline.addHandler(GreetingHandler { change in visits.withLock { change(&$0[visit]) } })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    /// A server with a forged chain.
    convenience init(
        _ chain: Forged...,
        versions: ClosedRange<Int> = 2...3,
        protocols: [String] = [],
        clientAnchors: [Forged] = []
    ) async throws {
        try await self.init(
            sent: chain.map(\.der),
            key: chain[0].key,
            versions: versions,
            protocols: protocols,
            clientAnchors: clientAnchors
        )
    }

    var port: Int { channel.localAddress?.port ?? 0 }

    /// In the order in which clients came.
    var seen: [Visit] { visits.withLock { $0 } }

    /// Ends all connections as they are.
    func closeVisits() async {
        for visitor in visitors.withLock({ $0 }) { try? await visitor.close() }
    }

    func close() async throws {
        try await channel.close()
    }
}

extension ForgeKey {
    func forTLS() throws -> NIOSSLPrivateKey {
        try NIOSSLPrivateKey(bytes: Array(key.serializeAsPEM().pemString.utf8), format: .pem)
    }
}
