import LinuxPrimitives
import ReachabilityRetry

/// Hosts that can be reached when a test says so; all can at first.
final class TestNetwork: VerdictSource {
    private struct State {
        var away: Set<String> = []
        var listeners: [UInt64: (host: String?, hear: @Sendable (RetryVerdict) -> Void)] = [:]
        var last: UInt64 = 0
    }

    private let state = Locked(State())

    func set(_ host: String, reachable: Bool) {
        let listeners = state.withLock { state in
            if reachable { state.away.remove(host) } else { state.away.insert(host) }
            return state.listeners.values.filter { $0.host == host }
        }
        for listener in listeners { listener.hear(verdict(host)) }
    }

    /// How many follow a host.
    func listenerCount(_ host: String) -> Int {
        state.withLock { $0.listeners.values.count { $0.host == host } }
    }

    func watch(_ host: String?, _ listener: @escaping @Sendable (RetryVerdict) -> Void) -> any VerdictWatch {
        let number = state.withLock { state in
            state.last += 1
            state.listeners[state.last] = (host, listener)
            return state.last
        }
        listener(verdict(host))
        return Watch(network: self, host: host, number: number)
    }

    private func verdict(_ host: String?) -> RetryVerdict {
        let isAway = state.withLock { state in host.map(state.away.contains) ?? false }
        return RetryVerdict(status: isAway ? .notReachable : .reachable)
    }

    private final class Watch: VerdictWatch {
        private let network: TestNetwork
        private let host: String?
        private let number: UInt64

        init(network: TestNetwork, host: String?, number: UInt64) {
            (self.network, self.host, self.number) = (network, host, number)
        }

        func ask() -> RetryVerdict { network.verdict(host) }

        deinit {
            network.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
        }
    }
}
