import LinuxSupport
import Logging
import NIOCore
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
