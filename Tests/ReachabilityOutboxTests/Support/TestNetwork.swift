import LinuxSupport
import ReachabilityRetry

/// Hosts that can be reached when a test says so; all can at first.
final class TestNetwork: VerdictSource {
    private struct State {
        var away: [String: RetryVerdict.Reason?] = [:]
        /// Grows with each change.
        var generation: UInt64 = 1
        var listeners: [UInt64: (host: String?, hear: @Sendable (RetryVerdict) -> Void)] = [:]
        var last: UInt64 = 0
    }

    private let state = Locked(State())

    /// What measures all waits.
    let clock = TestClock()

    deinit {
        // Alarms that nobody needs any more sleep until their time: those of a test have to end with it.
        clock.advance(by: .seconds(86_400 * 365))
    }

    /// One of its own each time, which goes by what the test says.
    var coordinator: RetryCoordinator {
        do {
            return RetryCoordinator(limits: try RetryLimits(spread: .zero), verdicts: self, clock: clock)
        } catch {
            fatalError("\(error)")
        }
    }

    func set(_ host: String, reachable: Bool, reason: RetryVerdict.Reason? = nil) {
        let listeners = state.withLock { state in
            state.generation += 1
            if reachable { state.away[host] = nil } else { state.away.updateValue(reason, forKey: host) }
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
        state.withLock { state in
            guard let host, let reason = state.away[host] else {
                return RetryVerdict(status: .reachable, generation: state.generation)
            }
            return RetryVerdict(status: .notReachable, reason: reason, generation: state.generation)
        }
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
