public import AsyncHTTPClient
public import Logging
import NIOCore
public import ReachabilityRetry

extension HTTPClient {
    /// The client with settings of its own for retries, which hold for each request that is sent with it.
    ///
    /// ```swift
    /// let client = HTTPClient.shared.retrying(settings)
    /// let outcome = try await client.execute(HTTPClientRequest(url: "https://example.org/"))
    /// ```
    public func retrying(_ settings: RetrySettings) -> RetryingHTTPClient { RetryingHTTPClient(self, settings) }
}

/// async-http-client, all of whose requests are retried in the same way.
public typealias RetryingHTTPClient = RetryingClient<HTTPClient>

extension RetryingHTTPClient {
    /// As `HTTPClient.execute(_:retry:options:body:logger:isolation:)`, with the client's settings.
    public func execute(
        _ request: HTTPClientRequest,
        body: (@Sendable () throws -> HTTPClientRequest.Body)? = nil,
        logger: Logger? = nil,
        isolation: isolated (any Actor)? = #isolation
    ) async throws(RetryError) -> RetryOutcome<HTTPClientResponse> {
        try await client.execute(
            request,
            retry: settings.policy,
            options: settings.options,
            body: body,
            logger: logger
        )
    }

    /// As `HTTPClient.execute(_:retry:options:body:logger:isolation:reading:)`, with the client's settings.
    public func execute<Value: Sendable>(
        _ request: HTTPClientRequest,
        body: (@Sendable () throws -> HTTPClientRequest.Body)? = nil,
        logger: Logger? = nil,
        isolation: isolated (any Actor)? = #isolation,
        reading read: @escaping @Sendable (HTTPClientResponse) async throws -> Value
    ) async throws(RetryError) -> RetryOutcome<Value> {
        try await client.execute(
            request,
            retry: settings.policy,
            options: settings.options,
            body: body,
            logger: logger,
            reading: read
        )
    }

    /// As `HTTPClient.execute(request:retry:options:body:eventLoop:logger:isolation:delegate:)`, with the client's settings.
    public func execute<Delegate: HTTPClientResponseDelegate>(
        request: HTTPClient.Request,
        body: (@Sendable () throws -> HTTPClient.Body)? = nil,
        eventLoop: HTTPClient.EventLoopPreference? = nil,
        logger: Logger? = nil,
        isolation: isolated (any Actor)? = #isolation,
        delegate: @escaping @Sendable (HTTPClient.Request) throws -> Delegate
    ) async throws(RetryError) -> RetryOutcome<Delegate.Response> {
        try await client.execute(
            request: request,
            retry: settings.policy,
            options: settings.options,
            body: body,
            eventLoop: eventLoop,
            logger: logger,
            delegate: delegate
        )
    }

    /// As `HTTPClient.execute(request:retry:options:body:eventLoop:logger:isolation:)`, with the client's settings.
    public func execute(
        request: HTTPClient.Request,
        body: (@Sendable () throws -> HTTPClient.Body)? = nil,
        eventLoop: HTTPClient.EventLoopPreference? = nil,
        logger: Logger? = nil,
        isolation: isolated (any Actor)? = #isolation
    ) async throws(RetryError) -> RetryOutcome<HTTPClient.Response> {
        try await execute(request: request, body: body, eventLoop: eventLoop, logger: logger) {
            ResponseAccumulator(request: $0)
        }
    }

    /// As `HTTPClient.start(request:retry:options:body:eventLoop:logger:)`, with the client's settings.
    public func start(
        request: HTTPClient.Request,
        body: (@Sendable () throws -> HTTPClient.Body)? = nil,
        eventLoop: HTTPClient.EventLoopPreference? = nil,
        logger: Logger? = nil
    ) -> RetriedTask<HTTPClient.Response> {
        client.start(
            request: request,
            retry: settings.policy,
            options: settings.options,
            body: body,
            eventLoop: eventLoop,
            logger: logger
        )
    }
}
