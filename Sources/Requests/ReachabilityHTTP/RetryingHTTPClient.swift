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

/// A client whose requests are all retried in the same way. A value; the client behind it stays the caller's, who shuts it down.
public struct RetryingHTTPClient: Sendable {
    /// What sends.
    public let client: HTTPClient
    /// When and how requests are sent again.
    public let settings: RetrySettings

    fileprivate init(_ client: HTTPClient, _ settings: RetrySettings) {
        self.client = client
        self.settings = settings
    }

    /// The same client with other settings: for one request, or for many.
    public func overriding(_ change: (inout RetrySettings) throws -> Void) rethrows -> RetryingHTTPClient {
        RetryingHTTPClient(client, try settings.overriding(change))
    }

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
