/// Sends a request with an interceptor as Alamofire's session does: adapted before each attempt, retried as long as the
/// interceptor says so. To count attempts and to limit the time is up to the interceptor. After a cancellation nobody is asked. Unlike
/// there, an error of the adapter ends the request without a question to the retrier.
///
/// - Parameters:
///   - request: What to send.
///   - interceptor: Adapts and retries.
///   - clock: What measures delays.
///   - isolation: Where this runs; the caller's own unless told otherwise.
///   - send: Sends the adapted request. An answer that is a failure is to be thrown, as a ``StatusFailure`` for example.
/// - Throws: What `send` or the adapter throws, what the retrier puts in its place, or `CancellationError`.
public func withInterceptor<Value: Sendable>(
    _ request: PlainRequest,
    interceptor: some RequestInterceptor,
    clock: some Clock<Duration> = ContinuousClock(),
    isolation: isolated (any Actor)? = #isolation,
    send: (PlainRequest) async throws -> Value
) async throws -> Value {
    var retryCount = 0
    while true {
        try Task.checkCancellation()
        let adapted = try await interceptor.adapt(request)
        do {
            return try await send(adapted)
        } catch {
            try Task.checkCancellation()
            if error is CancellationError { throw error }
            let stage = (error as? any RetryableError)?.failureStage
            let failed = FailedRequest(request: adapted, retryCount: retryCount, stage: stage)
            switch await interceptor.retry(failed, dueTo: error) {
            case .retry: break
            case .retryWithDelay(let delay): try await clock.sleep(for: delay)
            case .doNotRetry: throw error
            case .doNotRetryWithError(let other): throw other
            }
            retryCount += 1
        }
    }
}
