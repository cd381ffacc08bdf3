import LinuxSupport
package import ReachabilityRetry

/// A provider of reachability that a test sets, for all hosts or for one. Listeners are called at once.
package final class PlayedNetwork: ReachabilityProvider {
    private struct State {
        var reachability = HostReachability(status: .reachable, generation: 1)
        /// The reachability of single hosts.
        var hosts: [String: HostReachability] = [:]
        var listeners: [Int: (host: String?, hear: @Sendable (HostReachability) -> Void)] = [:]
        var watches = 0

        func reachability(of host: String?) -> HostReachability { host.flatMap { hosts[$0] } ?? reachability }
    }

    private let state = Locked(State())
    private let unassigned: [String]

    /// - Parameter unassigned: The addresses that are assigned to no host.
    package init(unassigned: [String] = []) {
        self.unassigned = unassigned
    }

    package var isReachable: Bool { state.withLock { $0.reachability.status == .reachable } }

    /// The number of watches.
    package var watchCount: Int { state.withLock { $0.listeners.count } }

    /// The number of watches of a host.
    package func watchCount(of host: String) -> Int {
        state.withLock { $0.listeners.values.count { $0.host == host } }
    }

    /// The number of watches so far.
    package var watchesMade: Int { state.withLock { $0.watches } }

    /// Sets the reachability of all hosts. Setting the same status again means another path.
    package func set(reachable: Bool) {
        set(reachable ? .reachable : .notReachable)
    }

    /// Sets the reachability of one host.
    package func set(_ host: String, reachable: Bool, reason: HostReachability.Reason? = nil) {
        change({ $0.host == host }) { state in
            let status = reachable ? HostReachability.Status.reachable : .notReachable
            let generation = state.reachability(of: host).generation + 1
            state.hosts[host] = HostReachability(
                status: status,
                reason: reachable ? nil : reason,
                generation: generation
            )
        }
    }

    /// Simulates another path. The hosts are reachable before and after the change.
    package func change() {
        set(state.withLock { $0.reachability.status })
    }

    /// Simulates another source address. The previous one was removed.
    package func set(source: String) {
        state.withLock { $0.reachability.source = source }
        change()
    }

    package func set(_ status: HostReachability.Status, because reason: HostReachability.Reason? = nil) {
        change({ _ in true }) { state in
            let (generation, source) = (state.reachability.generation + 1, state.reachability.source)
            state.reachability = HostReachability(
                status: status,
                reason: reason,
                generation: generation,
                source: source
            )
        }
    }

    private func change(
        _ isConcerned: ((host: String?, hear: @Sendable (HostReachability) -> Void)) -> Bool,
        _ change: (inout State) -> Void
    ) {
        let calls = state.withLock { state in
            change(&state)
            return state.listeners.values.filter(isConcerned).map { ($0.hear, state.reachability(of: $0.host)) }
        }
        for (hear, reachability) in calls { hear(reachability) }
    }

    package func isLocal(_ address: String) -> Bool {
        state.withLock { $0.reachability.source.map { $0 == address } ?? true }
    }

    package func unassignedAddresses() -> [String] { unassigned }

    package func watch(
        _ host: String?,
        _ listener: @escaping @Sendable (HostReachability) -> Void
    ) -> any ReachabilityWatch {
        let (number, reachability) = state.withLock { state in
            state.watches += 1
            state.listeners[state.watches] = (host, listener)
            return (state.watches, state.reachability(of: host))
        }
        listener(reachability)
        return Watch(network: self, host: host, number: number)
    }

    private final class Watch: ReachabilityWatch {
        private let network: PlayedNetwork
        private let host: String?
        private let number: Int

        init(network: PlayedNetwork, host: String?, number: Int) {
            (self.network, self.host, self.number) = (network, host, number)
        }

        deinit {
            _ = network.state.withLock { [number] in $0.listeners.removeValue(forKey: number) }
        }

        func currentReachability() -> HostReachability { network.state.withLock { $0.reachability(of: host) } }
    }
}
