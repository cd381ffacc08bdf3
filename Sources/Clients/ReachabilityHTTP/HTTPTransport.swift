import AsyncHTTPClient
import LinuxSupport
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOSSL
import ReachabilityRetry
import Tracing

/// A transport that sends attempts with its own `HTTPClient`.
///
/// Each attempt has a ``SendPermit``. A handler in each connection, ``SendGate``, uses the permit right before the head of the request is
/// written. An attempt that ends with an error revokes its permit. Exactly one of the two succeeds, so it is always known whether a byte of
/// the request has left or will leave.
final class HTTPTransport: Sendable {
    let client: HTTPClient
    /// The configuration that the caller passed.
    let configuration: HTTPClient.Configuration
    /// The host of the proxy, whose reachability is used for all requests; nil without a proxy.
    let proxyHost: String?
    /// The redirects that are followed by default.
    let redirects: RedirectRule

    private let tls: TLSConfiguration
    private let tracesItself: Bool
    private let permits = SendPermits()

    init(_ configuration: HTTPClient.Configuration, on eventLoopGroup: any EventLoopGroup) {
        self.configuration = configuration
        proxyHost = configuration.proxy?.host
        redirects = configuration.redirectConfiguration.isDisallowed ? .none : .follow()
        tls = configuration.tlsConfiguration ?? .makeClientConfiguration()
        tracesItself = configuration.tracing.tracer.map { !($0 is NoOpTracer) } ?? false
        var owned = configuration
        owned.redirectConfiguration = .disallow
        owned.connectionPool.retryConnectionEstablishment = false
        owned.http1_1ConnectionDebugInitializer = permits.initializer(after: owned.http1_1ConnectionDebugInitializer) {
            try $0.handler(type: HTTPRequestEncoder.self)
        }
        owned.http2StreamChannelDebugInitializer = permits.initializer(
            after: owned.http2StreamChannelDebugInitializer
        ) {
            try $0.handler(type: HTTP2FramePayloadToHTTP1ClientCodec.self)
        }
        client = HTTPClient(eventLoopGroup: eventLoopGroup, configuration: owned)
    }

    /// Sends a request once. Returns when the response begins.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - permit: The permit that is used when the request is written.
    ///   - trace: The header fields with the trace context of the attempt.
    ///   - cuts: The number of attempts that were ended early before a byte was sent.
    ///   - timeout: The maximum time from the start of the attempt to the start of the response.
    ///   - logger: The logger of async-http-client.
    /// - Throws: An error whose stage shows whether a byte of the request was sent.
    func send(
        _ request: HTTPClientRequest,
        with permit: SendPermit,
        trace: [RequestHead.Field],
        cuts: Int,
        timeout: Duration?,
        logger: Logger?
    ) async throws -> HTTPClientResponse {
        var request = request
        // A tracing client adds its own trace fields, which belong to a child span of the attempt's span. A server
        // must not receive both.
        if !tracesItself {
            for field in trace { request.headers.replaceOrAdd(name: field.name, value: field.value) }
        }
        if cuts > 0 { request.tlsConfiguration = (request.tlsConfiguration ?? tls).numbered(cuts) }
        let number = permits.add(permit)
        defer { permits.remove(number) }
        request.headers.replaceOrAdd(name: SendPermits.field, value: String(number))
        let deadline = timeout.map { NIODeadline.now() + TimeAmount($0) } ?? .distantFuture
        do {
            return try await client.execute(request, deadline: deadline, logger: logger)
        } catch {
            let isUnsent = permit.revoke()
            if error is CancellationError { throw error }
            throw isUnsent ? Self.unsent(error) : Self.sent(error)
        }
    }

    /// Returns the error of an attempt without a sent byte. Its original error may be ambiguous.
    private static func unsent(_ error: any Error) -> any Error {
        switch error {
        // The connection for the request was being closed.
        case let error as HTTPClientError where error == .cancelled: AttemptError.unsent(error)
        case let error as any RetryableError where error.failureStage == .mayHaveBeenProcessed:
            AttemptError.unsent(error)
        default: error
        }
    }

    /// Returns the error of an attempt whose head was written. Over HTTP/2 the server can report that it has not
    /// processed the request.
    private static func sent(_ error: any Error) -> any Error {
        switch error {
        case is NIOHTTP2Errors.StreamClosed, is NIOHTTP2Errors.CreatedStreamAfterGoaway,
            is NIOHTTP2Errors.NoStreamIDAvailable:
            error
        case let error as any RetryableError where error.failureStage == .neverSent: AttemptError.sent(error)
        default: error
        }
    }
}

/// A permit to send the first byte of one attempt. It is either used once or revoked permanently. Thread-safe.
final class SendPermit: Sendable {
    private enum State {
        case open, used, revoked
    }

    private let state = Locked(State.open)
    private let progress: AttemptProgress

    /// Creates a permit.
    ///
    /// - Parameter progress: The progress that is notified when the permit is used.
    init(_ progress: AttemptProgress) {
        self.progress = progress
    }

    /// Uses the permit. Returns true if the first byte may be sent now, which is the case at most once.
    func use() -> Bool {
        state.withLock { state in
            guard case .open = state else { return false }
            state = .used
            // Under the lock, so that the progress is set before `revoke()` returns false.
            progress.send()
            return true
        }
    }

    /// Revokes the permit. Returns true if no byte was sent and none will be sent.
    @discardableResult
    func revoke() -> Bool {
        state.withLock { state in
            if case .used = state { return false }
            state = .revoked
            return true
        }
    }
}

/// The permits of the current attempts. A request contains the number of its permit in a header field, which is
/// removed before the request is written.
final class SendPermits: Sendable {
    typealias Initializer = @Sendable (any Channel) -> EventLoopFuture<Void>

    static let field = "Reachability-Send-Permit"

    private struct State {
        var permits: [UInt64: SendPermit] = [:]
        var last: UInt64 = 0
    }

    private let state = Locked(State())

    func add(_ permit: SendPermit) -> UInt64 {
        state.withLock { state in
            state.last += 1
            state.permits[state.last] = permit
            return state.last
        }
    }

    func remove(_ number: UInt64) {
        state.withLock { _ = $0.permits.removeValue(forKey: number) }
    }

    /// Uses the permit whose number is in the header fields, and removes the number. Returns false if the attempt has
    /// ended.
    fileprivate func use(_ headers: inout HTTPHeaders) -> Bool {
        guard let number = headers.first(name: Self.field).flatMap({ UInt64($0) }) else { return false }
        headers.remove(name: Self.field)
        return state.withLock { $0.permits[number] }?.use() ?? false
    }

    /// Returns an initializer that adds a gate to a connection or a stream.
    ///
    /// - Parameters:
    ///   - first: An initializer that runs before this one.
    ///   - encoder: Returns the handler that encodes requests. The gate receives each request immediately before this
    ///     handler.
    func initializer(
        after first: Initializer?,
        encoder: @escaping @Sendable (ChannelPipeline.SynchronousOperations) throws -> any ChannelHandler
    ) -> Initializer {
        { [self] channel in
            let ready = first?(channel) ?? channel.eventLoop.makeSucceededVoidFuture()
            return ready.hop(to: channel.eventLoop).flatMapThrowing {
                let pipeline = channel.pipeline.syncOperations
                try pipeline.addHandler(SendGate(self), position: .after(try encoder(pipeline)))
            }
        }
    }
}

/// A handler that passes a request if its permit can be used. Otherwise it closes the connection without writing a
/// byte of the request.
private final class SendGate: ChannelOutboundHandler {
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private let permits: SendPermits
    private var isShut = false

    init(_ permits: SendPermits) {
        self.permits = permits
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        var data = data
        if !isShut, case .head(var head) = unwrapOutboundIn(data) {
            isShut = !permits.use(&head.headers)
            data = wrapOutboundOut(.head(head))
            // The connection is closed later, because the writing handler does not support its end within the call.
            if isShut { context.eventLoop.execute { [channel = context.channel] in channel.close(promise: nil) } }
        }
        guard !isShut else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        context.write(data, promise: promise)
    }
}

extension TLSConfiguration {
    /// Returns an equivalent configuration that the connection pool treats as different. With the same configuration
    /// the next attempt would wait for the pending connection of an attempt that was ended early. This may take long,
    /// because the kernel pauses between two SYNs.
    fileprivate func numbered(_ number: Int) -> TLSConfiguration {
        var configuration = self
        configuration.shutdownTimeout = shutdownTimeout + .nanoseconds(Int64(number))
        return configuration
    }
}

extension HTTPClient.Configuration.RedirectConfiguration {
    /// A Boolean value that indicates whether the value is `disallow`. async-http-client 1.37 has no getter for it.
    fileprivate var isDisallowed: Bool { Mirror(reflecting: self).descendant("mode").map { "\($0)" } == "disallow" }
}
