import LinuxSupport
import ReachabilityRetry

/// Verdicts that a test sets, one for all hosts.
final class PlayedVerdicts: VerdictSource {
    private struct State {
        var verdict = RetryVerdict(status: .reachable, generation: 1)
        var listeners: [UInt64: @Sendable (RetryVerdict) -> Void] = [:]
        var lastID: UInt64 = 0
    }

    private let state = Locked(State())
    private let unassigned: [String]

    /// - Parameter unassigned: The addresses that no host has.
    init(unassigned: [String] = []) {
        self.unassigned = unassigned
    }

    func unassignedAddresses() -> [String] { unassigned }

    var isReachable: Bool { state.withLock { $0.verdict.status == .reachable } }

    /// Says so from now on; the same again is another path.
    func set(reachable: Bool) {
        let (verdict, listeners) = state.withLock { state in
            let status = reachable ? RetryVerdict.Status.reachable : .notReachable
            state.verdict = RetryVerdict(status: status, generation: state.verdict.generation + 1)
            return (state.verdict, Array(state.listeners.values))
        }
        for listener in listeners { listener(verdict) }
    }

    func watch(_ host: String?, _ listener: @escaping @Sendable (RetryVerdict) -> Void) -> any VerdictWatch {
        let (id, verdict) = state.withLock { state in
            state.lastID += 1
            state.listeners[state.lastID] = listener
            return (state.lastID, state.verdict)
        }
        listener(verdict)
        return Watch(self, id)
    }

    private final class Watch: VerdictWatch {
        private let verdicts: PlayedVerdicts
        private let id: UInt64

        init(_ verdicts: PlayedVerdicts, _ id: UInt64) {
            self.verdicts = verdicts
            self.id = id
        }

        deinit {
            _ = verdicts.state.withLock { [id] in $0.listeners.removeValue(forKey: id) }
        }

        func ask() -> RetryVerdict { verdicts.state.withLock { $0.verdict } }
    }
}
