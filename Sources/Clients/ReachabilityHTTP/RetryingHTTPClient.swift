public import AsyncHTTPClient
public import Logging
public import NIOCore
import NIOHTTP1
public import ReachabilityRetry

/// An HTTP client that sends a request again when that makes sense. It waits while the network is away, except for a probe after a minute. It
/// goes on at once when the network is back, and it never repeats a request that may have an effect twice.
///
/// ```swift
/// let client = RetryingHTTPClient.shared
/// let outcome = try await client.execute(HTTPClientRequest(url: "https://example.org/"))
/// let body = try await outcome.value.body.collect(upTo: 1 << 20)
/// ```
///
/// The client makes and owns an `HTTPClient` of async-http-client, because only the owner of its configuration can see when the first byte
/// of a request leaves. The rules for retries are in the tables of `RetryPolicy`.
///
/// A value: copies with other settings share the connections.
public struct RetryingHTTPClient: Sendable {
    /// When and how requests are sent again, unless a call says otherwise.
    public var settings: RetrySettings

    private let transport: HTTPTransport

    /// A client with connections of its own.
    ///
    /// Three settings of the configuration change. async-http-client follows no redirects, because each hop is a request of its own here;
    /// `disallow` is kept as the default of the requests. It does not try a failed connection again. Initializers of connections run before
    /// the client's own.
    ///
    /// - Parameters:
    ///   - configuration: Proxy, TLS, timeouts and connection pool.
    ///   - eventLoopGroup: The threads of the connections.
    ///   - settings: When and how requests are sent again.
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

    /// The same client with other settings.
    public func overriding(_ change: (inout RetrySettings) throws -> Void) rethrows -> RetryingHTTPClient {
        var client = self
        try change(&client.settings)
        return client
    }

    /// Closes the connections. No request may be sent afterwards, also not by copies.
    public func shutdown() async throws {
        try await transport.client.shutdown()
    }
}

extension RetryingHTTPClient {
    /// Sends a request, and sends it again when that makes sense.
    ///
    /// The body of a response that is retried is read to its end before the wait if it is short, so that the connection can be used again;
    /// otherwise the connection is closed. The body of the returned response is not read; use
    /// ``execute(_:retry:options:body:logger:isolation:reading:)`` to have a body that breaks off retried.
    ///
    /// A body in memory is sent again. A stream is read once: an attempt that has sent the head of the request is the last, unless `body`
    /// makes the stream again.
    ///
    /// - Parameters:
    ///   - request: The request. Its method, idempotency key and host decide how it is retried.
    ///   - policy: When to try again; the client's policy if nil.
    ///   - options: Adapter, timeout of an attempt, priority, coordinator and clock; the client's options if nil.
    ///   - body: Makes the body for each attempt, in place of the request's own. An error that it throws ends the request.
    ///   - logger: The logger of async-http-client for the attempts.
    ///   - isolation: The isolation of the caller.
    /// - Returns: The response, whatever its status: one that is not retried, or the last one if no further retry is allowed; and every attempt.
    /// - Throws: `RetryError`, with every attempt.
    public func execute(
        _ request: HTTPClientRequest,
        retry policy: RetryPolicy? = nil,
        options: RequestRetryOptions? = nil,
        body: (@Sendable () throws -> HTTPClientRequest.Body?)? = nil,
        logger: Logger? = nil,
        isolation: isolated (any Actor)? = #isolation
    ) async throws(RetryError) -> RetryOutcome<HTTPClientResponse> {
        let settings = settings(policy, options)
        let letGo: @Sendable (HTTPClientResponse) async -> Void = { await $0.discard() }
        return try await retried(request, nil, settings, body, logger, letGo: letGo) { $0 }.run()
    }

    /// Sends a request like ``execute(_:retry:options:body:logger:isolation:)``, and reads the response as a part of the attempt: if the body
    /// breaks off, the request is retried if it may be repeated.
    ///
    /// ```swift
    /// let request = HTTPClientRequest(url: "https://example.org/")
    /// let outcome = try await client.execute(request) { response in try await response.body.collect(upTo: 1 << 20) }
    /// ```
    ///
    /// - Parameters:
    ///   - request: The request. Its method, idempotency key and host decide how it is retried.
    ///   - policy: When to try again; the client's policy if nil.
    ///   - options: Adapter, timeout of an attempt, priority, coordinator and clock; the client's options if nil. The timeout ends when the
    ///     response begins.
    ///   - body: Makes the body for each attempt, in place of the request's own. An error that it throws ends the request.
    ///   - logger: The logger of async-http-client for the attempts.
    ///   - isolation: The isolation of the caller.
    ///   - read: Reads a response that is not retried. It is cancelled at the deadline. Its errors are classified like those of the client;
    ///     an unknown error ends the request.
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
        try await execute(request, nil, settings(policy, options), body: body, logger: logger, reading: read)
    }

    /// Sends a request and reads the response as a part of the attempt.
    ///
    /// - Parameter parsed: The method and the URL as async-http-client reads them, if known.
    package func execute<Value: Sendable>(
        _ request: HTTPClientRequest,
        _ parsed: HTTPClient.Request?,
        _ settings: RetrySettings,
        body: (@Sendable () throws -> HTTPClientRequest.Body?)? = nil,
        logger: Logger? = nil,
        isolation: isolated (any Actor)? = #isolation,
        reading read: @escaping @Sendable (HTTPClientResponse) async throws -> Value
    ) async throws(RetryError) -> RetryOutcome<Value> {
        let statuses = settings.policy.statuses
        let retried = try retried(request, parsed, settings, body, logger, letGo: ReadResponse.discard) { response in
            let isKept = !statuses.contains(Int(response.status.code))
            return isKept ? ReadResponse.read(try await response.read(with: read)) : .unread(response)
        }
        return try await retried.run(finished: \.value) { answer in
            switch answer {
            case .read(let value): value
            case .unread(let response): try await read(response)
            }
        }
    }

    /// Sends a request once, to its first host, on behalf of a run that has decided to send it now. It neither waits nor counts.
    ///
    /// - Parameter isProbe: True if the attempt is to show whether the monitor is right. A missing path then does not end it.
    package func once(
        _ request: HTTPClientRequest,
        _ settings: RetrySettings,
        isProbe: Bool
    ) async throws(RetryError) -> HTTPClientResponse {
        let letGo: @Sendable (HTTPClientResponse) async -> Void = { await $0.discard() }
        return try await retried(request, nil, settings, nil, nil, letGo: letGo) { $0 }.once(isProbe: isProbe)
    }

    private func settings(_ policy: RetryPolicy?, _ options: RequestRetryOptions?) -> RetrySettings {
        RetrySettings(policy: policy ?? settings.policy, options: options ?? settings.options)
    }

    /// - Parameter read: Makes the value of an attempt from the response, which has begun.
    private func retried<Value>(
        _ request: HTTPClientRequest,
        _ parsed: HTTPClient.Request?,
        _ settings: RetrySettings,
        _ makeBody: (@Sendable () throws -> HTTPClientRequest.Body?)?,
        _ logger: Logger?,
        letGo: @escaping @Sendable (Value) async -> Void,
        read: @escaping @Sendable (HTTPClientResponse) async throws -> Value
    ) throws(RetryError) -> RetriedRequest<Value> {
        var options = settings.options
        options.host = options.host ?? transport.proxyHost
        options.redirects = options.redirects ?? transport.redirects
        let host: String
        do {
            host = try parsed?.host ?? HTTPClient.Request(url: request.url, method: request.method).host
        } catch {
            throw RetryError(refused: error, priority: options.priority)
        }
        let attempts = HTTPAttempts(transport, request, timeout: options.attemptTimeout, makeBody, logger)
        return RetriedRequest(
            request.plain,
            // A Unix domain socket has no host, and needs no network.
            host: host.isEmpty ? "127.0.0.1" : host.withoutBrackets,
            policy: settings.policy,
            options: options,
            needsPath: !host.isEmpty,
            body: attempts.bodyKind,
            isBodyLost: { _ in attempts.isBodyLost },
            letGo: letGo,
            send: { hop, progress in
                let response = try await attempts.send(hop, progress)
                let head = AnswerHead(status: Int(response.status.code)) { response.headers.first(name: $0) }
                return ClientAnswer(try await read(response), head)
            }
        )
    }
}

/// A response that was read, or that is not to be read yet because it may be retried.
private enum ReadResponse<Value: Sendable>: Sendable {
    case read(Value)
    case unread(HTTPClientResponse)

    /// Nil if it was not read.
    var value: Value? { if case .read(let value) = self { value } else { nil } }

    static func discard(_ response: ReadResponse) async {
        if case .unread(let response) = response { await response.discard() }
    }
}

extension HTTPClientResponse {
    /// Reads the response. It has begun, so no error of reading means that the request was never sent.
    fileprivate func read<Value: Sendable>(
        with read: @Sendable (HTTPClientResponse) async throws -> Value
    ) async throws -> Value {
        do {
            return try await read(self)
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
