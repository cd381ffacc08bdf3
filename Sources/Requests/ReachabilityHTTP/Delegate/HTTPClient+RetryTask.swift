public import AsyncHTTPClient
public import Logging
import NIOCore
public import ReachabilityRetry

extension HTTPClient {
    /// As ``execute(request:retry:options:body:eventLoop:logger:isolation:delegate:)``, for code that works with futures.
    ///
    /// - Returns: At once. The request goes on in the background until its future completes: keep nothing to keep it alive.
    public func start<Delegate: HTTPClientResponseDelegate>(
        request: Request,
        retry policy: RetryPolicy,
        options: RequestRetryOptions,
        body: (@Sendable () throws -> Body)? = nil,
        eventLoop: EventLoopPreference? = nil,
        logger: Logger? = nil,
        delegate: @escaping @Sendable (Request) throws -> Delegate
    ) -> RetriedTask<Delegate.Response> {
        RetriedTask(on: eventLoopGroup.any()) { () throws(RetryError) in
            try await self.execute(
                request: request,
                retry: policy,
                options: options,
                body: body,
                eventLoop: eventLoop,
                logger: logger,
                delegate: delegate
            )
        }
    }

    /// As ``execute(request:retry:options:body:eventLoop:logger:isolation:)``, for code that works with futures.
    ///
    /// - Returns: At once. The request goes on in the background until its future completes: keep nothing to keep it alive.
    public func start(
        request: Request,
        retry policy: RetryPolicy,
        options: RequestRetryOptions,
        body: (@Sendable () throws -> Body)? = nil,
        eventLoop: EventLoopPreference? = nil,
        logger: Logger? = nil
    ) -> RetriedTask<Response> {
        start(
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
