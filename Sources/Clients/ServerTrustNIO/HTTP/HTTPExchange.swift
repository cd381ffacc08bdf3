import LinuxSupport
import NIOCore
package import NIOHTTP1
import NIOSSL

/// The stages of one request, and the part of its response that was read.
package struct HTTPTrace: Sendable {
    /// The last stage that was reached.
    package var stage = TrustedHTTPStage.connecting
    /// The start of each stage, on CLOCK_MONOTONIC.
    package var times: [TrustedHTTPStage: Duration] = [:]
    /// The time when the request was written, on CLOCK_MONOTONIC; nil if it was not.
    package var sent: Duration?
    /// The time when the exchange ended, on CLOCK_MONOTONIC.
    package var ended = Duration.zero
    package var handshake: TrustedHandshake?
    package var head: HTTPResponseHead?
    /// The body of the response; empty unless the exchange succeeded.
    package var body: [UInt8] = []
    /// The failure; nil if the exchange succeeded.
    package var failure: TrustedHTTPFailure?
    /// The error of SwiftNIO or NIOSSL that caused the failure; nil if there was no such error.
    package var cause: (any Error)?
}

/// One request over a separate connection.
struct HTTPExchange: Sendable {
    let request: TrustedHTTPRequest
    let head: HTTPRequestHead
    let settings: TrustedHTTPSettings
    let tls: ServerTrustHandlerFactory?
    let connector: any HTTPConnecting
    let loop: any EventLoop
    var suffices: (@Sendable ([UInt8]) -> Bool)?

    func run() async -> HTTPTrace {
        let target = ConnectionTarget(request.url, settings)
        let state = HTTPRequestState(target)
        return await state.outcome(on: loop) {
            connector.connect(to: target, on: loop) { channel in
                try state.adopt(channel)
                if !settings.allowsLocalAddresses, settings.proxy == nil {
                    try channel.pipeline.syncOperations.addHandler(LocalAddressGuard())
                }
                try channel.pipeline.syncOperations.addHandler(AbortHandler())
            }
            .flatMap { openTunnel($0, state) }
            .flatMap { secure($0, state) }
            .flatMapThrowing { try send($0, state) }
            .whenFailure { state.fail($0) }
        }
    }

    private func openTunnel(_ channel: any Channel, _ state: HTTPRequestState) -> EventLoopFuture<any Channel> {
        guard let proxy = settings.proxy, request.url.scheme == .https else {
            return loop.makeSucceededFuture(channel)
        }
        state.reach(.tunnel)
        return loop.makeCompletedFuture {
            let opened = loop.makePromise(of: Void.self)
            let pipeline = channel.pipeline.syncOperations
            let authority = request.url.authorityWithPort
            let handler = TunnelHandler(authority: authority, authorization: proxy.authorization, opened: opened)
            try addHTTPHandlers(to: pipeline, informational: .drop)
            try pipeline.addHandler(handler, name: Self.tunnelName)
            return opened.futureResult
        }
        .flatMap { $0 }
        .flatMap {
            let names = [Self.tunnelName, Self.decoderName, Self.encoderName]
            return .andAllSucceed(names.map { channel.pipeline.removeHandler(name: $0) }, on: loop)
        }
        .map { channel }
    }

    private func secure(_ channel: any Channel, _ state: HTTPRequestState) -> EventLoopFuture<any Channel> {
        guard request.url.scheme == .https else { return loop.makeSucceededFuture(channel) }
        state.reach(.handshake)
        guard let tls else {
            return loop.makeFailedFuture(TrustedHTTPFailure.handshakeFailed(cause: "this client has no TLS"))
        }
        return loop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addServerTrust(tls, host: "\(request.url.host)")
        }
        .flatMap { $0 }
        .map { handshake in
            state.note { $0.handshake = handshake }
            return channel
        }
    }

    func send(_ channel: any Channel, _ state: HTTPRequestState) throws {
        if settings.endsWithHandshake { return state.finish() }
        let pipeline = channel.pipeline.syncOperations
        try addHTTPHandlers(to: pipeline, informational: .forward)
        let handler = ResponseHandler(request, head: head, settings, state: state)
        handler.suffices = suffices
        try pipeline.addHandler(handler)
    }

    /// Adds the encoder and the decoder. The decoder is behind the encoder, because it must receive the method of the
    /// request.
    private func addHTTPHandlers(
        to pipeline: ChannelPipeline.SynchronousOperations,
        informational: NIOInformationalResponseStrategy
    ) throws {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = settings.maximumHeaderBytes
        limits.maxHeaderListSize = settings.maximumHeaderBytes
        let decoder = HTTPResponseDecoder(
            leftOverBytesStrategy: .fireError,
            informationalResponseStrategy: informational,
            limitConfiguration: limits
        )
        try pipeline.addHandler(HTTPRequestEncoder(), name: Self.encoderName)
        try pipeline.addHandler(ByteToMessageHandler(decoder), name: Self.decoderName)
    }

    private static let encoderName = "requests"
    private static let decoderName = "responses"
    private static let tunnelName = "tunnel"
}

/// The state of a request. A response, an error, the time limit or cancellation ends it, on any thread. The first of
/// them counts.
final class HTTPRequestState: Sendable {
    private struct State {
        var trace = HTTPTrace()
        var isOver = false
        var waiter: CheckedContinuation<HTTPTrace, Never>?
        var clock: Scheduled<Void>?
        /// The open connections. There may be several while addresses are tried.
        var channels: [ObjectIdentifier: any Channel] = [:]
    }

    private let state = Locked(State())
    private let target: ConnectionTarget

    init(_ target: ConnectionTarget) {
        self.target = target
        state.withLock { $0.trace.times[.connecting] = SystemClock.monotonic }
    }

    var isOver: Bool { state.withLock { $0.isOver } }

    var trace: HTTPTrace { state.withLock { $0.trace } }

    func note(_ change: @Sendable (inout HTTPTrace) -> Void) {
        state.withLock { if !$0.isOver { change(&$0.trace) } }
    }

    func reach(_ stage: TrustedHTTPStage) {
        note { trace in
            trace.stage = stage
            trace.times[stage] = SystemClock.monotonic
        }
    }

    /// Starts the request, and waits for its end. Call it once, before any other method that can end the request.
    func outcome(on loop: any EventLoop, start: () -> Void) async -> HTTPTrace {
        let trace = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let trace: HTTPTrace? = state.withLock { state in
                    if !state.isOver { state.waiter = continuation }
                    return state.isOver ? state.trace : nil
                }
                if let trace { return continuation.resume(returning: trace) }
                let limit = target.settings.timeLimit
                let clock = loop.scheduleTask(deadline: loop.now + TimeAmount(limit: limit)) { self.timeIsUp() }
                let isOver = state.withLock { state in
                    state.clock = clock
                    return state.isOver
                }
                if isOver { clock.cancel() } else { start() }
            }
        } onCancel: {
            finish(.cancelled)
        }
        if target.settings.omitsClosingAlert {
            for channel in state.withLock({ Array($0.channels.values) }) { try? await channel.closeFuture.get() }
        }
        return trace
    }

    /// Adds a connection, which is closed when the request ends.
    ///
    /// - Throws: `CancellationError` if the request has ended.
    func adopt(_ channel: any Channel) throws {
        let identifier = ObjectIdentifier(channel)
        let isOver = state.withLock { state in
            if !state.isOver { state.channels[identifier] = channel }
            return state.isOver
        }
        if isOver { throw CancellationError() }
        channel.closeFuture.whenComplete { _ in
            _ = self.state.withLock { $0.channels.removeValue(forKey: identifier) }
        }
    }

    /// Ends the request. After a failure all connections are closed immediately. After a response its handler closes
    /// the connection.
    func finish(_ failure: TrustedHTTPFailure? = nil, cause: (any Error)? = nil, body: [UInt8] = []) {
        let isAbort = failure != nil || target.settings.omitsClosingAlert
        typealias End = (CheckedContinuation<HTTPTrace, Never>?, Scheduled<Void>?, [any Channel], HTTPTrace)
        let end: End? = state.withLock { state in
            guard !state.isOver else { return nil }
            state.isOver = true
            (state.trace.failure, state.trace.cause, state.trace.body) = (failure, cause, body)
            state.trace.ended = SystemClock.monotonic
            defer { (state.waiter, state.clock) = (nil, nil) }
            return (state.waiter, state.clock, Array(state.channels.values), state.trace)
        }
        guard let (waiter, clock, channels, trace) = end else { return }
        clock?.cancel()
        if isAbort {
            for channel in channels { channel.triggerUserOutboundEvent(AbortHandler.Event(), promise: nil) }
        }
        waiter?.resume(returning: trace)
    }

    /// Ends the request with an error of SwiftNIO or NIOSSL.
    func fail(_ error: any Error) {
        finish(TrustedHTTPFailure(error, trace.stage, target), cause: error)
    }

    private func timeIsUp() {
        finish(.timedOut(trace.stage, limit: target.settings.timeLimit))
    }
}

/// An outbound event of the pipeline: the request follows.
package struct HTTPRequestBegins: Sendable {}

/// An inbound event of the pipeline: a sufficient part of the response was received.
package struct HTTPResponseSuffices: Sendable {
    package init() {}
}

/// The last handler of the pipeline. It sends the request, and reads the response within the limits.
final class ResponseHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    /// The maximum number of interim responses (1xx, RFC 9110, 15.2).
    private static let maximumInformational = 16

    private let request: TrustedHTTPRequest
    private let head: HTTPRequestHead
    private let settings: TrustedHTTPSettings
    private let state: HTTPRequestState
    private var informational = 0
    private var hasHead = false
    private var body: [UInt8] = []
    var suffices: (@Sendable ([UInt8]) -> Bool)?
    /// The length of the body at which the next part is examined.
    private var nextLength = 1

    init(_ request: TrustedHTTPRequest, head: HTTPRequestHead, _ settings: TrustedHTTPSettings, state: HTTPRequestState)
    {
        (self.request, self.head, self.settings, self.state) = (request, head, settings, state)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        state.reach(.head)
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.whenSuccess { [state] in
            state.note { if $0.stage == .head { $0.sent = SystemClock.monotonic } }
        }
        context.triggerUserOutboundEvent(HTTPRequestBegins(), promise: nil)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if !request.body.isEmpty {
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: request.body)))), promise: nil)
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !state.isOver else { return }
        do throws(TrustedHTTPFailure) {
            if try isComplete(unwrapInboundIn(data)) { finish(context) }
        } catch {
            state.finish(error)
        }
    }

    private func finish(_ context: ChannelHandlerContext) {
        state.finish(body: body)
        // The response is already delivered, so the caller does not wait while TLS waits for the closing alert of the
        // peer (RFC 8446, 6.1).
        if !settings.omitsClosingAlert { context.close(promise: nil) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is HTTPResponseSuffices else { return context.fireUserInboundEventTriggered(event) }
        if !state.isOver { finish(context) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if settings.omitsClosingAlert, case NIOSSLError.uncleanShutdown = error { return }
        state.fail(error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        state.fail(ChannelError.eof)
        context.fireChannelInactive()
    }

    // MARK: Response

    /// Adds a part of the response. Returns whether the response is complete.
    private func isComplete(_ part: HTTPClientResponsePart) throws(TrustedHTTPFailure) -> Bool {
        switch part {
        case .head(let head): try add(head)
        case .body(let bytes):
            guard body.count + bytes.readableBytes <= settings.maximumBodyBytes else {
                throw .bodyTooLarge(limit: settings.maximumBodyBytes)
            }
            body.append(contentsOf: bytes.readableBytesView)
            if hasHead, let suffices, body.count >= nextLength {
                nextLength = body.count * 2
                if suffices(body) { return true }
            }
        case .end: return hasHead
        }
        return hasHead && settings.sufficientBodyBytes.map { body.count >= $0 } == true
    }

    private func add(_ head: HTTPResponseHead) throws(TrustedHTTPFailure) {
        switch head.status.code {
        case ..<100: throw .malformedResponse("its status is \(head.status.code)")
        case 101: throw .malformedResponse("it switches protocols, which was not requested")
        case ..<200:
            informational += 1
            guard informational <= Self.maximumInformational else {
                throw .malformedResponse("more than \(Self.maximumInformational) interim responses (1xx)")
            }
        default:
            hasHead = true
            state.note { $0.head = head }
            state.reach(.body)
            let hasBody = request.method != .HEAD && head.status.code != 204 && head.status.code != 304
            if hasBody, settings.sufficientBodyBytes == nil { try checkFraming(head.headers) }
        }
    }

    private func checkFraming(_ headers: HTTPHeaders) throws(TrustedHTTPFailure) {
        // With any other coding, which was not requested, the end of the body would be ambiguous (RFC 9112, 6.1).
        let codings = headers[canonicalForm: "Transfer-Encoding"]
        guard codings.isEmpty || codings.count == 1 && codings[0].lowercased() == "chunked" else {
            throw .malformedResponse("its Transfer-Encoding is \(codings.joined(separator: ", "))")
        }
        if codings.isEmpty, let announced = headers.first(name: "Content-Length") {
            // The decoder accepts only digits. A number that exceeds Int is also too large.
            guard let count = Int(announced), count <= settings.maximumBodyBytes else {
                throw .bodyTooLarge(limit: settings.maximumBodyBytes)
            }
        }
    }
}

/// A handler that closes the connection immediately on an event. It is next to the network, because a close above TLS
/// would wait for the closing alert.
final class AbortHandler: ChannelDuplexHandler {
    typealias InboundIn = NIOAny
    typealias OutboundIn = NIOAny

    struct Event: Sendable {}

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard event is Event else { return context.triggerUserOutboundEvent(event, promise: promise) }
        context.close(promise: promise)
    }
}
