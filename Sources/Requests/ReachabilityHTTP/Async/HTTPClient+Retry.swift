public import AsyncHTTPClient
public import Logging
import NIOCore
public import ReachabilityRetry

extension HTTPClient {
    /// Sends a request, and sends it again when that makes sense: not while the network is away, but for a probe after a
    /// minute, at once when it is back, and never twice what must not be done twice.
    ///
    /// ```swift
    /// var request = HTTPClientRequest(url: "https://example.org/")
    /// let outcome = try await client.execute(request, retry: .standard)
    /// let body = try await outcome.value.body.collect(upTo: 1 << 20)
    /// ```
    ///
    /// What is retried is in the tables of `RetryPolicy`, what an error means in <doc:Classification>. The answer that is
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
        retry policy: RetryPolicy,
        options: RequestRetryOptions,
        body: (@Sendable () throws -> HTTPClientRequest.Body)? = nil,
        logger: Logger? = nil,
        isolation: isolated (any Actor)? = #isolation
    ) async throws(RetryError) -> RetryOutcome<HTTPClientResponse> {
        let (parsed, settings) = (try Request.checked(request, options), ClientSettings(self))
        let letGo: @Sendable (HTTPClientResponse) async -> Void = { await $0.discard() }
        return try await retried(request, parsed, settings, policy, options, body, logger, letGo: letGo) { $0 }.run()
    }
}

extension HTTPClient {
    /// The request with what retries it.
    ///
    /// - Parameters:
    ///   - parsed: What the client makes of its method and URL.
    ///   - read: Makes what an attempt brings of its answer, which has begun.
    func retried<Value>(
        _ request: HTTPClientRequest,
        _ parsed: Request,
        _ settings: ClientSettings,
        _ policy: RetryPolicy,
        _ options: RequestRetryOptions,
        _ makeBody: (@Sendable () throws -> HTTPClientRequest.Body)?,
        _ logger: Logger?,
        letGo: @escaping @Sendable (Value) async -> Void,
        read: @escaping @Sendable (HTTPClientResponse) async throws -> Value
    ) -> RetriedRequest<Value> {
        let attempts = AsyncAttempts(
            client: self,
            settings: settings,
            request: request,
            parsed: parsed,
            timeout: options.attemptTimeout,
            makeBody: makeBody,
            logger: logger
        )
        return RetriedRequest(
            request.plain,
            host: parsed.reachableHost,
            policy: policy,
            options: options.with(settings),
            needsPath: !parsed.host.isEmpty,
            body: attempts.bodyKind,
            isBodyLost: { attempts.hasLostBody(after: $0) },
            letGo: letGo,
            send: { hop, progress in
                let response = try await attempts.attempt(hop, progress)
                return ClientAnswer(try await read(response), status: response.status, headers: response.headers)
            }
        )
    }
}
