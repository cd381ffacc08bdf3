import LinuxSupport
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import ServerTrust
import ServerTrustNIO

/// The evaluation of the servers of connections by a manager.
struct ConnectionEvaluator: Sendable {
    let manager: ServerTrustManager
    let enforcement: ServerTrustEnforcement
    /// The fetcher of the certificates that a server sends; nil if they cannot be fetched.
    let fetcher: ChainFetcher?
    /// The other certificates of trusted servers, by the server's own certificate. They are reused for later connections.
    private let chains = Locked(LRUCache<[UInt8], [[UInt8]]>(capacity: 256))

    /// Evaluates the server of a connection. Returns if it is trusted.
    ///
    /// async-http-client provides only the server's own certificate. The other certificates are fetched with a second
    /// connection. They only help to build the chain. The signature of each certificate is verified with the key of the
    /// next one, so their origin does not matter.
    func evaluate(_ peer: ConnectionPeer, on eventLoop: any EventLoop) async throws(ServerTrustError) {
        let others = await others(of: peer, on: eventLoop)
        do {
            let trust = try enforcement.configuration.trust(
                derEncodedChain: chain(peer.certificate, others ?? []),
                host: peer.host
            )
            try await manager.evaluateOnline(trust, forHost: peer.host)
        } catch {
            chains.withLock { $0[peer.certificate] = nil }
            throw others == nil ? Self.explained(error) : error
        }
        if let others { chains.withLock { $0[peer.certificate] = others } }
    }

    private func others(of peer: ConnectionPeer, on eventLoop: any EventLoop) async -> [[UInt8]]? {
        if let known = chains.withLock({ $0[peer.certificate] }) { return known }
        do {
            return try await fetcher?.certificates(of: peer, on: eventLoop)
        } catch {
            enforcement.configuration.logger.warning(
                "cannot fetch the certificates of the server of \(peer.host.shown): \("\(error)".shown)"
            )
            return nil
        }
    }

    /// Returns the server's own certificate, then the others without duplicates, up to the maximum number that a server
    /// may send.
    private func chain(_ leaf: [UInt8], _ others: [[UInt8]]) -> [[UInt8]] {
        var seen: Set = [leaf]
        let more = (others + enforcement.intermediates.map(\.derRepresentation)).filter { seen.insert($0).inserted }
        return [leaf] + more.prefix(max(0, enforcement.configuration.requirements.maximumSentCertificates - 1))
    }

    private static func explained(_ error: ServerTrustError) -> ServerTrustError {
        guard case .unknownIssuer = error.reason else { return error }
        let reason = TrustFailure.custom(
            "\(error.reason); the server's other certificates are not available, so add its authorities to `intermediates`"
        )
        return ServerTrustError(reason: reason, host: error.host, chain: error.chain)
    }
}

/// A fetcher of the certificates that a server sends, with a handshake that is not completed.
struct ChainFetcher: Sendable {
    private let context: Result<NIOSSLContext, any Error>

    /// Creates a fetcher with the TLS configuration of the client, but without the client's certificate.
    init(_ configuration: TLSConfiguration, offersHTTP2: Bool) {
        var configuration = configuration
        configuration.applicationProtocols = offersHTTP2 ? ["h2", "http/1.1"] : ["http/1.1"]
        configuration.certificateChain = []
        configuration.privateKey = nil
        // Required to receive the certificates. The handshake is never completed, so no server is trusted by it.
        configuration.certificateVerification = .noHostnameVerification
        configuration.trustRoots = .certificates([])
        configuration.additionalTrustRoots = []
        context = Result { try NIOSSLContext(configuration: configuration) }
    }

    /// Returns the certificates in DER that the server of `peer` sends for the same name. If the task is cancelled, the
    /// connection is closed.
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
        // A promise that is never completed stops a debug build.
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
