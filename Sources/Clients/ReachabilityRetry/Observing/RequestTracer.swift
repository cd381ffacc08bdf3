/// Follows requests from their beginning to their end, each attempt as a part of its request: what a system of tracing needs. One tracer
/// serves any number of requests. `ReachabilityObservability` has one for swift-distributed-tracing.
public protocol RequestTracer: Sendable {
    /// A request begins, in the task of who sends it.
    ///
    /// - Parameter request: As the caller made it.
    func begin(_ request: PlainRequest) -> any RequestTrace
}

/// One request that is followed. It is told by whoever it happens to, in order, and must not block.
public protocol RequestTrace: Sendable {
    /// An attempt begins: the first, a repetition, or one where a redirect has led to.
    ///
    /// - Parameter request: Before it is adapted.
    func beginAttempt(_ request: PlainRequest) -> any AttemptTrace

    /// Something happens between attempts.
    func record(_ event: RetryEvent)

    /// It is over.
    ///
    /// - Parameters:
    ///   - status: Of the answer that is returned; nil where there is none.
    ///   - error: What it failed with; nil where there is an answer.
    func end(status: Int?, error: RetryError?)
}

/// One attempt that is followed.
public protocol AttemptTrace: Sendable {
    /// Header fields that tell the server which trace it is a part of. They take the place of the request's own of these names.
    var fields: [PlainRequest.Field] { get }

    /// Runs the attempt, adapters included, so that whatever it does is known to be a part of it.
    func run<Value>(_ attempt: () async -> Value) async -> Value

    /// It is over.
    ///
    /// - Parameters:
    ///   - request: As it was sent, adapted; nil where it did not come to that.
    ///   - status: Of its answer; nil where there is none.
    ///   - error: What it failed with. `CancellationError` also where it was cut because the path had gone, which
    ///     ``RequestTrace/record(_:)`` is told then.
    func end(_ request: PlainRequest?, status: Int?, error: (any Error)?)
}
