import LinuxSupport
public import Logging

extension RetryCoordinator {
    /// What was counted until now.
    public var statistics: RetryStatistics { state.withLock { $0.statistics } }

    /// An attempt begins.
    func countAttempt() { state.withLock { $0.statistics.attempts += 1 } }

    /// Counts an event, and tells of it.
    func tell(_ event: RetryEvent) {
        state.withLock { $0.statistics.count(event) }
        observer?(event)
    }
}

extension Logger {
    /// What writes events to this log: waits and probes at `debug`, ends without success at `info`, and where an answer disproves the
    /// monitor at `notice`. Hosts are told, and never a URL.
    public var retryObserver: RetryObserver {
        { event in
            switch event {
            case .waiting(let target, let attempt, let pause):
                debug(
                    "retry waits",
                    metadata: [
                        "host": "\(target)", "attempt": "\(attempt.number)",
                        "for": "\(attempt.reason?.rawValue ?? "")",
                        "pause": "\(pause.map { "\($0)" } ?? "until it is reachable")",
                        "stage": "\(attempt.stage.map { "\($0)" } ?? "")",
                    ]
                )
            case .redirected(let target, _): debug("redirected", metadata: ["host": "\(target)"])
            case .probing(let target): debug("retry probes", metadata: ["host": "\(target)"])
            case .disagreement(let target, let verdict):
                notice(
                    "answered although it is said not to be reachable",
                    metadata: ["host": "\(target)", "verdict": "\(verdict)"]
                )
            case .ended(let target, let ending?, let attempts):
                info(
                    "not retried any more",
                    metadata: ["host": "\(target)", "ending": "\(ending.rawValue)", "attempts": "\(attempts)"]
                )
            case .ended: break
            }
        }
    }
}
