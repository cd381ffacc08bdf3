import CommandLineSupport
import ReachabilityRetry

/// What `retry` says of its attempts on standard error: a line for each, written when it is known what follows.
struct RetryReport: Sendable {
    /// Whether it says nothing but what a shell would: that a command cannot be started.
    let isQuiet: Bool
    /// How many attempts there are at most.
    let attempts: Int
    /// The deadline as it was given.
    let deadline: String

    /// An attempt has failed, and another is waited for.
    ///
    /// - Parameter pause: How long; nil for as long as the target is not reachable.
    func wait(after attempt: RetryAttempt, _ failure: CommandFailure, pause: Duration?) {
        let next =
            if let pause {
                attempt.reason == .newPath ? ", next at once: the path has changed" : ", waits \(pause.secondsText)"
            } else {
                ", waits until reachable" + (attempt.verdict?.reason.map { ": \($0)" } ?? "")
            }
        write(failure.end, attempt.number, next)
    }

    /// An attempt has succeeded.
    func success(_ end: ProgramEnd, _ number: Int) {
        write(end, number, "")
    }

    /// An attempt was the last; nothing if the wait after it was, for then its line is written.
    func end(_ error: RetryError) {
        guard let attempt = error.attempts.last, attempt.reason == nil,
            let failure = attempt.error as? CommandFailure
        else { return }
        let text =
            switch error.ending {
            case .attemptsExhausted: ", gives up"
            case .deadlineExpired: ", told to end: the deadline of \(deadline) has passed"
            case .cancelled: ", told to end"
            default: ", not retried"
            }
        write(failure.end, attempt.number, text)
    }

    /// The deadline has passed in a wait, though the target was reachable.
    func deadlinePassed() {
        if !isQuiet { StandardError.write("reachability: the deadline of \(deadline) passed before the next attempt") }
    }

    private func write(_ end: ProgramEnd, _ number: Int, _ text: String) {
        if isQuiet {
            guard case .notStarted = end.cause else { return }
        }
        StandardError.write("reachability: \(end), attempt \(number) of \(attempts)\(text)")
    }
}
