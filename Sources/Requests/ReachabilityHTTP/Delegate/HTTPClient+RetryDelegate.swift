public import AsyncHTTPClient
import FoundationEssentials
public import Logging
import NIOCore
import NIOHTTP1
public import ReachabilityRetry

extension HTTPClient {
    /// Sends a request in the form of earlier versions of the client, with a delegate for each attempt, and sends it again when
    /// that makes sense, as ``execute(_:retry:options:body:logger:isolation:)`` does.
    ///
    /// Here the client tells whether anything was sent: an attempt that fails before is retried whatever the method
    /// (``UnsentRequest``). The delegate of an attempt that is retried for its status is told of the sending, and never of the
    /// answer.
    ///
    /// The body is sent again where its length is known: a closure that cannot write it a second time then fails with
    /// `bodyLengthMismatch`, and nothing is sent by halves. One of unknown length is written once, unless `body` makes it anew.
    ///
    /// - Parameters:
    ///   - request: What to send; method, idempotency key and host decide how it is retried.
    ///   - policy: When to try again.
    ///   - options: Adapter, timeout of an attempt, priority, coordinator, clock. The timeout is for the whole answer.
    ///   - body: Makes the body for each attempt, in the place of the request's own. What it throws ends the request.
    ///   - eventLoop: Where the delegate is called; nil for anywhere. With a preference, an attempt that is begun anew may have to wait
    ///     for the connection the one before it has left behind.
    ///   - logger: The client's logger for the attempts.
    ///   - isolation: Where this runs; the caller's own unless told otherwise.
    ///   - delegate: Makes the delegate for an attempt with this request, adapted. What it throws ends the request.
    /// - Returns: What the delegate made of the answer that is kept, whatever its status; and every attempt.
    /// - Throws: `RetryError`, with every attempt.
    public func execute<Delegate: HTTPClientResponseDelegate>(
        request: Request,
        retry policy: RetryPolicy,
        options: RequestRetryOptions,
        body: (@Sendable () throws -> Body)? = nil,
        eventLoop: EventLoopPreference? = nil,
        logger: Logger? = nil,
        isolation: isolated (any Actor)? = #isolation,
        delegate: @escaping @Sendable (Request) throws -> Delegate
    ) async throws(RetryError) -> RetryOutcome<Delegate.Response> {
        let settings = ClientSettings(self)
        let isBodyOnce = body == nil && request.body.map { $0.contentLength == nil } ?? false
        let attempts = DelegateAttempts(
            client: self,
            settings: settings,
            request: request,
            statuses: policy.statuses,
            timeout: options.attemptTimeout,
            isBodyOnce: isBodyOnce,
            makeBody: body,
            eventLoop: eventLoop,
            logger: logger,
            makeDelegate: delegate
        )
        let retried = RetriedRequest<DelegateAnswer<Delegate>>(
            PlainRequest(method: request.method, url: request.url.absoluteString, headers: request.headers),
            host: request.reachableHost,
            policy: policy,
            options: options.with(settings),
            needsPath: !request.host.isEmpty,
            body: body == nil && request.body == nil ? .none : isBodyOnce ? .once : .replayable,
            isBodyLost: { attempts.hasLostBody(after: $0) },
            letGo: { await $0.discard() },
            send: { try await attempts.attempt($0, $1) }
        )
        return try await retried.run(finished: \.response) { try await $0.finish() }
    }

    /// Sends a request in the form of earlier versions of the client, and reads the answer into memory as a part of each attempt.
    ///
    /// See ``execute(request:retry:options:body:eventLoop:logger:isolation:delegate:)``.
    ///
    /// - Returns: The answer that is kept, whatever its status; and every attempt.
    /// - Throws: `RetryError`, with every attempt.
    public func execute(
        request: Request,
        retry policy: RetryPolicy,
        options: RequestRetryOptions,
        body: (@Sendable () throws -> Body)? = nil,
        eventLoop: EventLoopPreference? = nil,
        logger: Logger? = nil,
        isolation: isolated (any Actor)? = #isolation
    ) async throws(RetryError) -> RetryOutcome<Response> {
        try await execute(
            request: request,
            retry: policy,
            options: options,
            body: body,
            eventLoop: eventLoop,
            logger: logger,
            delegate: { ResponseAccumulator(request: $0) }
        )
    }
}
