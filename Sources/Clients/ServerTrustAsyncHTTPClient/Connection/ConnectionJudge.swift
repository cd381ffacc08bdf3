import LinuxSupport
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import ServerTrust

/// Asks the manager about the server of a connection.
struct ConnectionJudge: Sendable {
    let manager: ServerTrustManager
    let enforcement: ServerTrustEnforcement
    /// Nil where the certificates a server sends cannot be asked for.
    let fetcher: ChainFetcher?
    private let memory = ChainMemory()

    init(manager: ServerTrustManager, enforcement: ServerTrustEnforcement, fetcher: ChainFetcher?) {
        self.manager = manager
        self.enforcement = enforcement
        self.fetcher = fetcher
    }

    /// Returns if the server is trusted.
    ///
    /// The certificates behind the server's own only help to build the chain; each is checked by the signature on the one before.
    /// So it does not matter that they come from elsewhere than this connection.
    func judge(_ peer: ConnectionPeer, on eventLoop: any EventLoop) async throws(ServerTrustError) {
        let others = await others(of: peer, on: eventLoop)
        do {
            let trust = try enforcement.configuration.trust(
                derEncodedChain: chain(peer.certificate, others ?? []),
                host: peer.host
            )
            try await manager.evaluateOnline(trust, forHost: peer.host)
        } catch {
            memory.forget(peer.certificate)
            throw others == nil ? Self.explained(error) : error
        }
        if let others { memory.remember(others, for: peer.certificate) }
    }

    private func others(of peer: ConnectionPeer, on eventLoop: any EventLoop) async -> [[UInt8]]? {
        if let known = memory.others(for: peer.certificate) { return known }
        do {
            return try await fetcher?.certificates(of: peer, on: eventLoop)
        } catch {
            enforcement.configuration.logger.warning(
                "the certificates that the server of \(peer.host.shown) sends cannot be asked for: \("\(error)".shown)"
            )
            return nil
        }
    }

    /// The server's own first, each once, and no more of them than a server may send.
    private func chain(_ leaf: [UInt8], _ others: [[UInt8]]) -> [[UInt8]] {
        var seen: Set = [leaf]
        let more = (others + enforcement.intermediates.map(\.derRepresentation)).filter { seen.insert($0).inserted }
        return [leaf] + more.prefix(max(0, enforcement.configuration.requirements.maximumSentCertificates - 1))
    }

    private static func explained(_ error: ServerTrustError) -> ServerTrustError {
        guard case .unknownIssuer = error.reason else { return error }
        let reason = TrustFailure.custom(
            "\(error.reason). What the server sends was not seen here: give its authorities as `intermediates`"
        )
        return ServerTrustError(reason: reason, host: error.host, chain: error.chain)
    }
}

/// What servers sent behind their own certificates, for the next connection. Only of servers that were trusted.
private struct ChainMemory: Sendable {
    private static let capacity = 256
    private let chains = Locked<[[UInt8]: [[UInt8]]]>([:])

    func others(for leaf: [UInt8]) -> [[UInt8]]? { chains.withLock { $0[leaf] } }

    /// When it is full it begins anew; a client has few servers.
    func remember(_ others: [[UInt8]], for leaf: [UInt8]) {
        chains.withLock { chains in
            if chains.count >= Self.capacity, chains[leaf] == nil { chains = [:] }
            chains[leaf] = others
        }
    }

    func forget(_ leaf: [UInt8]) { chains.withLock { $0[leaf] = nil } }
}

/// Begins a handshake with a server to see the certificates it sends, and breaks it off.
struct ChainFetcher: Sendable {
    private let context: Result<NIOSSLContext, any Error>

    /// As the client's connections, but without its certificate.
    init(_ configuration: TLSConfiguration, offersHTTP2: Bool) {
        var configuration = configuration
        configuration.applicationProtocols = offersHTTP2 ? ["h2", "http/1.1"] : ["http/1.1"]
        configuration.certificateChain = []
        configuration.privateKey = nil
        // Or the certificates would not be shown; nothing is trusted by it.
        configuration.certificateVerification = .noHostnameVerification
        configuration.trustRoots = .certificates([])
        configuration.additionalTrustRoots = []
        context = Result { try NIOSSLContext(configuration: configuration) }
    }

    /// In DER, as the server that `peer` is connected to sends them to whoever asks for the same name. Cancelling ends the connection.
    func certificates(of peer: ConnectionPeer, on eventLoop: any EventLoop) async throws -> [[UInt8]] {
        let context = try context.get()
        guard let remote = peer.remoteAddress else { throw ChannelError.unknownLocalAddress }
        let sent = FirstResult<[[UInt8]]>(on: eventLoop)
        var bootstrap = ClientBootstrap(group: eventLoop).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                let handler = try NIOSSLClientHandler(
                    context: context,
                    serverHostname: peer.serverName,
                    customVerificationCallback: { certificates, verdict in
                        sent.complete(Result { try certificates.map { try $0.toDERBytes() } })
                        verdict.succeed(.failed)
                    }
                )
                try channel.pipeline.syncOperations.addHandler(handler)
            }
        }
        if var local = peer.localAddress {
            local.port = 0
            bootstrap = bootstrap.bind(to: local)
        }
        let connection = bootstrap.connect(to: remote)
        // A promise that nobody keeps stops a debug build.
        connection.whenFailure { sent.complete(.failure($0)) }
        let channel = try await connection.get()
        channel.closeFuture.whenComplete { _ in sent.complete(.failure(ChannelError.eof)) }
        return try await withTaskCancellationHandler {
            let certificates = try await sent.future.get()
            channel.close(mode: .all, promise: nil)
            return certificates
        } onCancel: {
            channel.close(mode: .all, promise: nil)
        }
    }
}
