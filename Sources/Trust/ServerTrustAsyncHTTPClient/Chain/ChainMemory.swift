import LinuxPrimitives

/// What servers sent behind their own certificates, for the next connection. Only of servers that were trusted.
struct ChainMemory: Sendable {
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
