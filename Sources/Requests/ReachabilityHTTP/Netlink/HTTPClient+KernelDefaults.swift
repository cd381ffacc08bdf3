#if Netlink
public import AsyncHTTPClient
public import Logging
import NIOCore
public import ReachabilityRetry

extension HTTPClient {
    /// As ``execute(_:retry:options:body:logger:isolation:)``, with each setting's default, which waits for the kernel's word.
    public func execute(
        _ request: HTTPClientRequest,
        retry policy: RetryPolicy,
        body: (@Sendable () throws -> HTTPClientRequest.Body)? = nil,
        logger: Logger? = nil,
        isolation: isolated (any Actor)? = #isolation
    ) async throws(RetryError) -> RetryOutcome<HTTPClientResponse> {
        try await execute(request, retry: policy, options: RequestRetryOptions(), body: body, logger: logger)
    }

    /// As ``execute(_:retry:options:body:logger:isolation:reading:)``, with each setting's default, which waits for the kernel's
    /// word.
    public func execute<Value: Sendable>(
        _ request: HTTPClientRequest,
        retry policy: RetryPolicy,
        body: (@Sendable () throws -> HTTPClientRequest.Body)? = nil,
        logger: Logger? = nil,
        isolation: isolated (any Actor)? = #isolation,
        reading read: @escaping @Sendable (HTTPClientResponse) async throws -> Value
    ) async throws(RetryError) -> RetryOutcome<Value> {
        let options = RequestRetryOptions()
        return try await execute(request, retry: policy, options: options, body: body, logger: logger, reading: read)
    }

    /// As ``execute(request:retry:options:body:eventLoop:logger:isolation:delegate:)``, with each setting's default, which waits for
    /// the kernel's word.
    public func execute<Delegate: HTTPClientResponseDelegate>(
        request: Request,
        retry policy: RetryPolicy,
        body: (@Sendable () throws -> Body)? = nil,
        eventLoop: EventLoopPreference? = nil,
        logger: Logger? = nil,
        isolation: isolated (any Actor)? = #isolation,
        delegate: @escaping @Sendable (Request) throws -> Delegate
    ) async throws(RetryError) -> RetryOutcome<Delegate.Response> {
        try await execute(
            request: request,
            retry: policy,
            options: RequestRetryOptions(),
            body: body,
            eventLoop: eventLoop,
            logger: logger,
            delegate: delegate
        )
    }

    /// As ``execute(request:retry:options:body:eventLoop:logger:isolation:)``, with each setting's default, which waits for the
    /// kernel's word.
    public func execute(
        request: Request,
        retry policy: RetryPolicy,
        body: (@Sendable () throws -> Body)? = nil,
        eventLoop: EventLoopPreference? = nil,
        logger: Logger? = nil,
        isolation: isolated (any Actor)? = #isolation
    ) async throws(RetryError) -> RetryOutcome<Response> {
        try await execute(
            request: request,
            retry: policy,
            options: RequestRetryOptions(),
            body: body,
            eventLoop: eventLoop,
            logger: logger
        )
    }

    /// As ``start(request:retry:options:body:eventLoop:logger:delegate:)``, with each setting's default, which waits for the
    /// kernel's word.
    public func start<Delegate: HTTPClientResponseDelegate>(
        request: Request,
        retry policy: RetryPolicy,
        body: (@Sendable () throws -> Body)? = nil,
        eventLoop: EventLoopPreference? = nil,
        logger: Logger? = nil,
        delegate: @escaping @Sendable (Request) throws -> Delegate
    ) -> RetriedTask<Delegate.Response> {
        start(
            request: request,
            retry: policy,
            options: RequestRetryOptions(),
            body: body,
            eventLoop: eventLoop,
            logger: logger,
            delegate: delegate
        )
    }

    /// As ``start(request:retry:options:body:eventLoop:logger:)``, with each setting's default, which waits for the kernel's word.
    public func start(
        request: Request,
        retry policy: RetryPolicy,
        body: (@Sendable () throws -> Body)? = nil,
        eventLoop: EventLoopPreference? = nil,
        logger: Logger? = nil
    ) -> RetriedTask<Response> {
        start(
            request: request,
            retry: policy,
            options: RequestRetryOptions(),
            body: body,
            eventLoop: eventLoop,
            logger: logger
        )
    }
}
#endif
