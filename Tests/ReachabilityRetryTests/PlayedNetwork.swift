import LinuxSupport
import ReachabilityRetry

/// A network whose state a test sets, and which tells of it at once. One for all hosts.
final class PlayedNetwork: VerdictSource {
    private struct State {
        var verdict = RetryVerdict(status: .reachable, generation: 1)
        var listeners: [UInt64: @Sendable (RetryVerdict) -> Void] = [:]
        var lastID: UInt64 = 0
        var watches = 0
    }

    private let state = Locked(State())

    var isReachable: Bool { state.withLock { $0.verdict.status == .reachable } }

    /// How many watches there are, and how many there were.
    var watchCount: Int { state.withLock { $0.listeners.count } }
    var watchesMade: Int { state.withLock { $0.watches } }

    func set(reachable: Bool) {
        set(reachable ? .reachable : .notReachable)
    }

    /// Another address: reachable before and after, by another path.
    func change() {
        set(state.withLock { $0.verdict.status })
    }

    /// Another address, and the one before is gone.
    func set(source: String) {
        state.withLock { $0.verdict.source = source }
        change()
    }

    func isLocal(_ address: String) -> Bool { state.withLock { $0.verdict.source == address } }

    func set(_ status: RetryVerdict.Status, because reason: RetryVerdict.Reason? = nil) {
        let (verdict, listeners) = state.withLock { state in
            let (generation, source) = (state.verdict.generation + 1, state.verdict.source)
            state.verdict = RetryVerdict(status: status, reason: reason, generation: generation, source: source)
            return (state.verdict, Array(state.listeners.values))
        }
        for listener in listeners { listener(verdict) }
    }

    func watch(_ host: String?, _ listener: @escaping @Sendable (RetryVerdict) -> Void) -> any VerdictWatch {
        let (id, verdict) = state.withLock { state in
            state.lastID += 1
            state.watches += 1
            state.listeners[state.lastID] = listener
            return (state.lastID, state.verdict)
        }
        listener(verdict)
        return Watch(self, id)
    }

    private final class Watch: VerdictWatch {
        private let network: PlayedNetwork
        private let id: UInt64

        init(_ network: PlayedNetwork, _ id: UInt64) {
            self.network = network
            self.id = id
        }

        deinit {
            _ = network.state.withLock { [id] in $0.listeners.removeValue(forKey: id) }
        }

        func ask() -> RetryVerdict { network.state.withLock { $0.verdict } }
    }
}
