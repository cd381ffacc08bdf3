/// What is tried, and by whose rules.
struct RetryWork<Value: Sendable>: Sendable {
    var policy: RetryPolicy
    /// Whether the first attempt, too, waits for a path, and for the end of what a server asks for.
    var waitsFirst: Bool
    /// Whether retries are charged to the host's budget.
    var isCharged = true
    /// Told what happens.
    var observer: RetryObserver?
    /// What the client tells of its attempts; nil where it tells nothing: then none is cut for the want of a path.
    var progress: AttemptProgress?
    /// How long an attempt may take to connect.
    var connectTimeout: Duration?
    /// Asks the caller's retrier about a failure, which has been retried so often.
    var ask: (@Sendable (_ retries: Int, FailureStage?, any Error) async -> RetryResult)?
    /// Lets go of an answer that is not kept.
    var letGo: @Sendable (Value) async -> Void = { _ in }
    /// Makes an attempt.
    var attempt: @Sendable (AttemptContext) async -> AttemptResult<Value>

    /// Tells whoever wants to know.
    func tell(_ event: RetryEvent, _ coordinator: RetryCoordinator) {
        observer?(event)
        coordinator.tell(event)
    }
}

/// What is known of an attempt when it begins.
package struct AttemptContext: Sendable {
    /// 1 is the first.
    package let number: Int
    /// The one before it at the same host, with its error; nil for the first there.
    package let previous: RetryAttempt?
    /// Whether it is to show whether the monitor is right, which says that there is no path.
    package let isProbe: Bool
}

/// What an attempt brought.
enum AttemptResult<Value: Sendable>: Sendable {
    /// What was wanted, or an answer that is no failure. One that is not good, a 404 for example, earns no budget.
    case kept(Value, isGood: Bool)
    /// An answer that may be retried, and is kept where it is not.
    case held(Value, any Error)
    case failed(any Error)
}
