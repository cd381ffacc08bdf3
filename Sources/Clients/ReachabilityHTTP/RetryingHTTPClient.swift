public import AsyncHTTPClient
import LinuxSupport
public import Logging
public import NIOCore
import NIOHTTP1
public import ReachabilityRetry

/// An HTTP client that retries a request if that is useful and safe. While the network is down, only probes are made,
/// the first after a minute. When the network is back, the retry starts immediately. A request that is not safe to
/// repeat is never repeated after it may have been processed.
///
/// ```swift
/// let client = RetryingHTTPClient.shared
/// let outcome = try await client.execute(HTTPClientRequest(url: "https://example.org/"))
/// let body = try await outcome.value.body.collect(upTo: 1 << 20)
/// ```
///
/// The client creates and owns an `HTTPClient` of async-http-client, because only the owner of its configuration can
/// detect when the first byte of a request is sent. The tables of `RetryPolicy` define which failures are retried.
///
/// The client is a value type. Copies with other settings share the connections.
public struct RetryingHTTPClient: Sendable {
    /// The retry policy and options of requests, unless a call sets others.
    public var settings: RetrySettings

    private let transport: HTTPTransport

    /// Creates a client with separate connections.
    ///
    /// Three settings of the configuration are changed:
    ///
    /// - async-http-client follows no redirects, because each hop is a separate request. `disallow` is kept as the
    ///   default of the requests.
    /// - async-http-client does not retry failed connections.
    /// - Connection initializers of the configuration run before those of the client.
    ///
    /// - Parameters:
    ///   - configuration: The proxy, TLS settings, timeouts and connection pool.
    ///   - eventLoopGroup: The threads of the connections.
    ///   - settings: The retry policy and options.
    public init(
        configuration: HTTPClient.Configuration = HTTPClient.Configuration(),
        eventLoopGroup: any EventLoopGroup = HTTPClient.defaultEventLoopGroup,
        settings: RetrySettings = RetrySettings()
    ) {
        transport = HTTPTransport(configuration, on: eventLoopGroup)
        self.settings = settings
    }

    /// The client of the process, with the standard policy. Its configuration is that of `HTTPClient.shared`, except that it waits at most
    /// 10 seconds for a connection and 60 seconds for the next bytes of a response. Do not shut it down.
    public static let shared: RetryingHTTPClient = {
        var configuration = HTTPClient.Configuration.singletonConfiguration
        configuration.timeout = HTTPClient.Configuration.Timeout(connect: .seconds(10), read: .seconds(60))
        return RetryingHTTPClient(configuration: configuration)
    }()

    /// Returns a client with a changed configuration, the same settings, and separate connections.
    package func reconfigured(
        _ change: (HTTPClient.Configuration) -> HTTPClient.Configuration
    ) -> RetryingHTTPClient {
        RetryingHTTPClient(
            configuration: change(transport.configuration),
            eventLoopGroup: transport.client.eventLoopGroup,
            settings: settings
        )
    }

    /// Returns a copy with other settings that shares the connections.
    public func overriding(_ change: (inout RetrySettings) throws -> Void) rethrows -> RetryingHTTPClient {
        var client = self
        try change(&client.settings)
        return client
    }

    /// Closes the connections. Afterwards neither this client nor its copies can send requests.
    public func shutdown() async throws {
        try await transport.client.shutdown()
    }
}

extension RetryingHTTPClient {
    /// Sends a request, and retries it if that is useful and safe.
    ///
    /// Before the wait for a retry, a short body of the response is read to its end, so that the connection can be
    /// reused. Otherwise the connection is closed. The body of the returned response is not read. To retry an
    /// incomplete body, use ``execute(_:retry:options:body:logger:isolation:reading:)``.
    ///
    /// A body in memory can be sent repeatedly. A stream can be read only once. With a stream the attempt that sends
    /// the head of the request is the last one, unless `body` creates a new stream for each attempt.
    ///
    /// - Parameters:
    ///   - request: The request. Its method, idempotency key and host decide how it is retried.
    ///   - policy: When to try again; the client's policy if nil.
    ///   - options: Adapter, timeout of an attempt, priority, coordinator and clock; the client's options if nil.
    ///   - body: Makes the body for each attempt, in place of the request's own. An error that it throws ends the request.
    ///   - logger: The logger of async-http-client for the attempts.
    ///   - isolation: The isolation of the caller.
    /// - Returns: The response, whatever its status, and every attempt. It is one that is not retried, or the last
    ///   one if no further retry is permitted.
    /// - Throws: `RetryError`, with every attempt.
    public func execute(
        _ request: HTTPClientRequest,
        retry policy: RetryPolicy? = nil,
        options: RequestRetryOptions? = nil,
        body: (@Sendable () throws -> HTTPClientRequest.Body?)? = nil,
        logger: Logger? = nil,
        isolation: isolated (any Actor)? = #isolation
    ) async throws(RetryError) -> RetryOutcome<HTTPClientResponse> {
        let kept = Locked<HTTPClientResponse?>(nil)
        let settings = settings(policy, options)
        let host = try host(of: request, settings)
        return try await retried(request, request.plain, host, settings, body, logger, kept).run().returning(kept)
    }

    /// Sends a request like ``execute(_:retry:options:body:logger:isolation:)``, and reads the response as a part of
    /// the attempt. If the body is incomplete, the request is retried if it is safe to repeat.
    ///
    /// ```swift
    /// let request = HTTPClientRequest(url: "https://example.org/")
    /// let outcome = try await client.execute(request) { response in try await response.body.collect(upTo: 1 << 20) }
    /// ```
    ///
    /// - Parameters:
    ///   - request: The request. Its method, idempotency key and host decide how it is retried.
    ///   - policy: When to try again; the client's policy if nil.
    ///   - options: The adapter, attempt timeout, priority, coordinator and clock; the client's options if nil. The
    ///     timeout ends when the response begins.
    ///   - body: Makes the body for each attempt, in place of the request's own. An error that it throws ends the request.
    ///   - logger: The logger of async-http-client for the attempts.
    ///   - isolation: The isolation of the caller.
    ///   - read: Reads a response that is not retried. It is cancelled at the deadline. Its errors are classified
    ///     like errors of the client. An unknown error ends the request.
    /// - Returns: The result of `read`, and every attempt.
    /// - Throws: `RetryError`, with every attempt.
    public func execute<Value: Sendable>(
        _ request: HTTPClientRequest,
        retry policy: RetryPolicy? = nil,
        options: RequestRetryOptions? = nil,
        body: (@Sendable () throws -> HTTPClientRequest.Body?)? = nil,
        logger: Logger? = nil,
        isolation: isolated (any Actor)? = #isolation,
        reading read: @escaping @Sendable (HTTPClientResponse) async throws -> Value
    ) async throws(RetryError) -> RetryOutcome<Value> {
        let value = Locked<Value?>(nil)
        let settings = settings(policy, options)
        let host = try host(of: request, settings)
        let outcome = try await execute(request, request.plain, to: host, settings, body, logger) { response in
            let content = try await read(response)
            value.withLock { $0 = content }
        }
        return try outcome.returning(value)
    }

    /// Sends a request and reads the response as a part of the attempt. The reader keeps the content.
    ///
    /// - Parameters:
    ///   - request: The body and the settings of async-http-client.
    ///   - plain: The method, the URL and the header fields.
    ///   - host: The host of the URL; empty for a Unix domain socket.
    package func execute(
        _ request: HTTPClientRequest,
        _ plain: RequestHead,
        to host: String,
        _ settings: RetrySettings,
        _ body: (@Sendable () throws -> HTTPClientRequest.Body?)?,
        _ logger: Logger? = nil,
        isolation: isolated (any Actor)? = #isolation,
        reading read: @escaping @Sendable (HTTPClientResponse) async throws -> Void
    ) async throws(RetryError) -> RetryOutcome<ResponseHead> {
        let statuses = settings.policy.statuses
        let unread = Locked<HTTPClientResponse?>(nil)
        let retried = retried(request, plain, host, settings, body, logger, unread) { response in
            if statuses.contains(Int(response.status.code)) { return }
            unread.withLock { $0 = nil }
            try await response.read(with: read)
        }
        return try await retried.run {
            unread.withLock { $0 == nil }
        } finishing: {
            if let response = unread.withLock({ $0.take() }) { try await read(response) }
        }
    }

    /// Sends a request once to its first host. The caller is a run that has already waited for its turn, so this call
    /// neither waits nor counts as an attempt.
    ///
    /// - Parameter isProbe: True if the attempt tests the monitor's reachability. A missing path then does not end the
    ///   attempt.
    package func once(
        _ request: HTTPClientRequest,
        _ settings: RetrySettings,
        isProbe: Bool
    ) async throws(RetryError) -> HTTPClientResponse {
        let kept = Locked<HTTPClientResponse?>(nil)
        let host = try host(of: request, settings)
        let retried = retried(request, request.plain, host, settings, nil, nil, kept)
        return try await retried.once(isProbe: isProbe).returning(kept).value
    }

    private func settings(_ policy: RetryPolicy?, _ options: RequestRetryOptions?) -> RetrySettings {
        RetrySettings(policy: policy ?? settings.policy, options: options ?? settings.options)
    }

    /// Returns the host of a URL; empty for a Unix domain socket.
    private func host(of request: HTTPClientRequest, _ settings: RetrySettings) throws(RetryError) -> String {
        do {
            return try HTTPClient.Request(url: request.url, method: request.method).host
        } catch {
            throw RetryError(refused: error, priority: settings.options.priority)
        }
    }

    /// Returns the request with its attempts, ready to run.
    ///
    /// - Parameters:
    ///   - request: The body and the settings of async-http-client.
    ///   - plain: The method, the URL and the header fields.
    ///   - host: The host of the URL; empty for a Unix domain socket.
    ///   - response: Receives the response of each attempt, until it is released.
    ///   - read: Reads the response as a part of the attempt.
    private func retried(
        _ request: HTTPClientRequest,
        _ plain: RequestHead,
        _ host: String,
        _ settings: RetrySettings,
        _ makeBody: (@Sendable () throws -> HTTPClientRequest.Body?)?,
        _ logger: Logger?,
        _ response: Locked<HTTPClientResponse?>,
        read: @escaping @Sendable (HTTPClientResponse) async throws -> Void = { _ in }
    ) -> RetriedRequest {
        var options = settings.options
        options.host = options.host ?? transport.proxyHost
        options.redirects = options.redirects ?? transport.redirects
        let attempts = HTTPAttempts(transport, request, options, makeBody, logger)
        return RetriedRequest(
            plain,
            // A Unix domain socket has no host, and needs no network.
            host: host.isEmpty ? "127.0.0.1" : host.withoutBrackets,
            policy: settings.policy,
            options: options,
            needsPath: !host.isEmpty,
            body: attempts.bodyKind,
            isBodyLost: { _ in attempts.isBodyLost },
            release: { await response.withLock { $0.take() }?.discard() },
            send: { hop, progress in
                let received = try await attempts.send(hop, progress)
                response.withLock { $0 = received }
                try await read(received)
                return ResponseHead(status: Int(received.status.code)) { received.headers.first(name: $0) }
            }
        )
    }
}

extension HTTPClientResponse {
    /// Reads the response. Its head was received, so an error of reading never means that the request was not sent.
    fileprivate func read(with read: @Sendable (HTTPClientResponse) async throws -> Void) async throws {
        do {
            try await read(self)
        } catch let error as any RetryableError where error.failureStage == .neverSent {
            throw AttemptError.sent(error)
        }
    }
}

extension String {
    fileprivate var withoutBrackets: String {
        hasPrefix("[") && hasSuffix("]") ? String(dropFirst().dropLast()) : self
    }
}
