/// Sends a request with any client, and sends it again when that makes sense, as
/// ``withRetry(policy:target:coordinator:clock:observer:isolation:operation:)``; with the adapter, the retrier and all else that `options`
/// have. Redirects are the client's.
///
/// - Parameters:
///   - request: What to send; its method, idempotency key and host decide how it is retried.
///   - policy: When to try again.
///   - options: Adapter, retrier, host, priority, coordinator, observer, clock. What else there is needs a client that tells more.
///   - isolation: Where this runs; the caller's own unless told otherwise.
///   - send: Sends the adapted request. An answer that is a failure is to be thrown, as a ``StatusFailure`` for example.
/// - Returns: What `send` returned, with every attempt.
/// - Throws: ``RetryError``, with every attempt.
public func withRetry<Value: Sendable>(
    _ request: PlainRequest,
    policy: RetryPolicy = .standard,
    options: RequestRetryOptions = RequestRetryOptions(),
    isolation: isolated (any Actor)? = #isolation,
    send: @escaping @Sendable (PlainRequest) async throws -> Value
) async throws(RetryError) -> RetryOutcome<Value> {
    var options = options
    options.redirects = RedirectRule.none
    let retried = RetriedRequest<Value>(
        request,
        host: RequestURL(request.url)?.host,
        policy: policy,
        options: options,
        needsPath: false,
        tellsStatus: false,
        body: .none
    ) { hop, _ in
        ClientAnswer(try await send(hop.traced), AnswerHead(status: 200) { _ in nil })
    }
    return try await retried.run()
}
