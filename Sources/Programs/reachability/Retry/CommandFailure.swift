import CommandLineSupport
import ReachabilityRetry

/// An attempt whose command did not succeed.
struct CommandFailure: RetryableError, CustomStringConvertible {
    let end: ProgramEnd

    /// The statuses that are retried, those of signals as a shell has them; nil for every status a command exits with, and
    /// no signal: somebody, or a mistake, has ended it, and no network will mend that.
    let statuses: Set<CInt>?

    /// What it did, nobody knows: whoever has it retried says that it may be done twice.
    var failureStage: FailureStage? {
        let isRetried =
            switch end.cause {
            case .notStarted: false
            case .exited(let status): statuses?.contains(status) ?? true
            case .signalled: statuses?.contains(end.cause.status) ?? false
            }
        return isRetried ? .mayHaveBeenProcessed : nil
    }

    var description: String { end.description }
}
