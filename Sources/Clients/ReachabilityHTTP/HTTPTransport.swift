import AsyncHTTPClient
import LinuxSupport
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOSSL
import ReachabilityRetry
import Tracing

/// Sends attempts with an `HTTPClient` whose configuration it owns.
///
/// Each attempt has a ``SendPermit``. A handler in each connection, ``SendGate``, uses the permit right before the head of the request is
/// written. An attempt that ends with an error revokes its permit. Exactly one of the two succeeds, so it is always known whether a byte of
/// the request has left or will leave.
final class HTTPTransport: Sendable {
    let client: HTTPClient
    /// The host whose reachability counts if all requests go through a proxy; nil without a proxy.
    let proxyHost: String?
    /// The redirects that are followed by default.
    let redirects: RedirectRule

    private let tls: TLSConfiguration
    private let tracesItself: Bool
    private let permits = SendPermits()

    init(_ configuration: HTTPClient.Configuration, on eventLoopGroup: any EventLoopGroup) {
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

    /// Sends a request once, and returns when its response begins.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - permit: Used when the request is written.
    ///   - trace: The fields that name the span of the attempt.
    ///   - cuts: The number of attempts that were cut before they had sent anything.
    ///   - timeout: The maximum time until the response begins.
    ///   - logger: The logger of async-http-client.
    /// - Throws: An error whose stage says whether anything was sent.
    func send(
        _ request: HTTPClientRequest,
        with permit: SendPermit,
        trace: [PlainRequest.Field],
        cuts: Int,
        timeout: Duration?,
        logger: Logger?
    ) async throws -> HTTPClientResponse {
        var request = request
        // A client that traces adds fields of its own, which belong to a span below that of the attempt. A server must not receive both.
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

    /// The error of an attempt of which nothing was sent, although its error alone may not say so.
    private static func unsent(_ error: any Error) -> any Error {
        switch error {
        // The connection that was to carry the request was being closed.
        case let error as HTTPClientError where error == .cancelled: AttemptError.unsent(error)
        case let error as any RetryableError where error.failureStage == .mayHaveBeenProcessed:
            AttemptError.unsent(error)
        default: error
        }
    }

    /// The error of an attempt whose head was written. Over HTTP/2 the server can say that it has not looked at the request.
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

/// Whether the first byte of one attempt may leave: used once, or revoked for ever. Thread-safe.
final class SendPermit: Sendable {
    private enum State {
        case open, used, revoked
    }

    private let state = Locked(State.open)
    private let progress: AttemptProgress

    /// - Parameter progress: Notified when the permit is used.
    init(_ progress: AttemptProgress) {
        self.progress = progress
    }

    /// Returns whether the first byte may leave now. True at most once.
    func use() -> Bool {
        state.withLock { state in
            guard case .open = state else { return false }
            state = .used
            // Under the lock: once `revoke()` has returned false, the progress is known to be sent.
            progress.send()
            return true
        }
    }

    /// Returns whether nothing has left and nothing will.
    @discardableResult
    func revoke() -> Bool {
        state.withLock { state in
            if case .used = state { return false }
            state = .revoked
            return true
        }
    }
}

/// The permits of the attempts under way. A request carries the number of its permit in a header field, which is removed before it is written.
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

    /// Uses the permit whose number a request carries, and removes the number. A request whose attempt has ended has no permit.
    fileprivate func use(_ headers: inout HTTPHeaders) -> Bool {
        guard let number = headers.first(name: Self.field).flatMap({ UInt64($0) }) else { return false }
        headers.remove(name: Self.field)
        return state.withLock { $0.permits[number] }?.use() ?? false
    }

    /// An initializer that adds a gate to a connection or a stream.
    ///
    /// - Parameters:
    ///   - first: Runs before it.
    ///   - encoder: Finds the handler that encodes requests. The gate receives a request right before it.
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

/// Lets a request pass if its permit can be used. Otherwise it closes the connection, and nothing of the request is written.
private final class SendGate: ChannelOutboundHandler {
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private let permits: SendPermits
    private var isShut = false

    init(_ permits: SendPermits) {
        self.permits = permits
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        var part = unwrapOutboundIn(data)
        if !isShut, case .head(var head) = part {
            isShut = !permits.use(&head.headers)
            part = .head(head)
            // Not here: the handler that writes does not expect the connection to end within the call.
            if isShut { context.eventLoop.execute { [channel = context.channel] in channel.close(promise: nil) } }
        }
        guard !isShut else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        context.write(wrapOutboundOut(part), promise: promise)
    }
}

extension TLSConfiguration {
    /// An equal configuration that is another one for the connection pool, which keeps apart what differs in it. The pool would have the next
    /// attempt wait for the connection of an attempt that was cut, which may take long: the kernel waits between two SYNs.
    fileprivate func numbered(_ number: Int) -> TLSConfiguration {
        var configuration = self
        configuration.shutdownTimeout = shutdownTimeout + .nanoseconds(Int64(number))
        return configuration
    }
}

extension HTTPClient.Configuration.RedirectConfiguration {
    /// A Boolean value that indicates whether it is `disallow`. async-http-client 1.37 has no getter for it.
    fileprivate var isDisallowed: Bool { Mirror(reflecting: self).descendant("mode").map { "\($0)" } == "disallow" }
}
