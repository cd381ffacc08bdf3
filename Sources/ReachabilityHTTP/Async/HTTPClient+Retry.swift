public import AsyncHTTPClient
public import Logging
import NIOCore
public import ReachabilityRetry

extension HTTPClient {
    /// Sends a request, and sends it again when that makes sense: never while the network is away, at once when it is back, and
    /// never twice what must not be done twice.
    ///
    /// ```swift
    /// var request = HTTPClientRequest(url: "https://example.org/")
    /// let outcome = try await client.execute(request, retry: .standard)
    /// let body = try await outcome.value.body.collect(upTo: 1 << 20)
    /// ```
    ///
    /// What is retried is in the tables of `ReachabilityRetryPolicy`, what an error means in <doc:Classification>. The answer that is
    /// returned is never read from. One that is retried is let go of before the wait: a short body is read to its end so that the
    /// connection can be used again, of any other the connection is closed.
    ///
    /// The body of the request is sent again where it is bytes in memory. A stream is read once: where an attempt has begun it, that
    /// attempt is the last (`BodyNotReplayable`), unless `body` makes it anew.
    ///
    /// What becomes of the answer's body after this returns is the caller's: to have a body that breaks off retried too, read it in
    /// ``execute(_:retry:options:body:logger:isolation:reading:)``.
    ///
    /// - Parameters:
    ///   - request: What to send; method, idempotency key and host decide how it is retried.
    ///   - policy: When to try again.
    ///   - options: Adapter, timeout of an attempt, priority, coordinator, clock.
    ///   - body: Makes the body for each attempt, in the place of the request's own. What it throws ends the request.
    ///   - logger: The client's logger for the attempts.
    ///   - isolation: Where this runs; the caller's own unless told otherwise.
    /// - Returns: The answer with its head, whatever its status: one that is not to be retried, or the last one where no retry is
    ///   allowed any more; and every attempt.
    /// - Throws: `RetryError`, with every attempt.
    public func execute(
        _ request: HTTPClientRequest,
        retry policy: ReachabilityRetryPolicy,
        options: RequestRetryOptions = RequestRetryOptions(),
        body: (@Sendable () throws -> HTTPClientRequest.Body)? = nil,
        logger: Logger? = nil,
        isolation: isolated (any Actor)? = #isolation
    ) async throws(RetryError) -> RetryOutcome<HTTPClientResponse> {
        let send: @Sendable (HTTPClientRequest) async throws -> HTTPClientResponse = { request in
            try await self.execute(request, deadline: NIODeadline(after: options.attemptTimeout), logger: logger)
        }
        let retried = try request.retried(policy, options, body, letGo: { await $0.discard() }) { request in
            let response = try await send(request)
            return ClientAnswer(response, status: response.status, headers: response.headers)
        }
        return try await retried.run().outcome
    }
}
