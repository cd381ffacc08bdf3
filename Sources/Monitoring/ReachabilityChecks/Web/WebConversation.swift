import LinuxSupport
import NIOCore
import NIOHTTP1
import NIOSSL
import NIOTLS
import ReachabilityRetry
import ServerTrustNIO

/// One request over one connection, at the end of its pipeline: sends, keeps when each phase ended, and reads what is answered.
///
/// Its event loop is the only one to touch it. The promise is kept whatever happens.
final class WebConversation: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    /// What ends it from outside, as an event of the pipeline.
    enum Stop: Sendable { case timedOut, cancelled, enough }

    private let request: WebRequest
    private let trust: WebTrust
    /// After so many bytes of the body it is over.
    private let enough: Int
    private let channel: any Channel
    private let ended: EventLoopPromise<WebOutcome>
    private let byteGuard: ByteGuard
    private let headGuard = HeadGuard()
    private var outcome = WebOutcome()
    private var began = SystemClock.monotonic
    private var informational = 0
    private var length = 0
    private var isOver = false

    private init(
        _ request: WebRequest,
        _ trust: WebTrust,
        on channel: any Channel,
        ended: EventLoopPromise<WebOutcome>
    ) {
        (self.request, self.trust, self.channel, self.ended) = (request, trust, channel, ended)
        byteGuard = ByteGuard(request)
        enough = WebLimits.enough(request.purpose)
        outcome.phase = request.url.scheme == .https ? .tls : .request
    }

    /// Gives a channel, which is not active yet, all it needs. Call it on the channel's event loop.
    static func prepare(
        _ channel: any Channel,
        for request: WebRequest,
        trust: WebTrust,
        ended: EventLoopPromise<WebOutcome>
    ) throws {
        let conversation = WebConversation(request, trust, on: channel, ended: ended)
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(AbortHandler())
        try pipeline.addHandler(conversation.byteGuard)
        if request.url.scheme == .https { try conversation.secure(pipeline) }
        var limits = NIOHTTPDecoderLimitConfiguration()
        (limits.maxHeaderFieldSize, limits.maxHeaderListSize) = (WebLimits.head, WebLimits.head)
        let decoder = HTTPResponseDecoder(informationalResponseStrategy: .forward, limitConfiguration: limits)
        // The decoder stands behind the encoder: it must see what was asked.
        try pipeline.addHandler(conversation.headGuard)
        try pipeline.addHandler(HTTPRequestEncoder())
        try pipeline.addHandler(ByteToMessageHandler(decoder))
        try pipeline.addHandler(conversation)
    }

    private func secure(_ pipeline: ChannelPipeline.SynchronousOperations) throws {
        try pipeline.addHandler(GatheringHandler())
        let witness = trust.witness(for: request.purpose)
        let handshake = try pipeline.addServerTrust(try trust.factory(witness), host: "\(request.url.host)")
        handshake.assumeIsolated().whenComplete { result in
            self.outcome.tls = TLSFacts(witness, try? result.get())
        }
    }

    // MARK: The way there

    func channelActive(context: ChannelHandlerContext) {
        if outcome.phase == .request { send(context) }
        context.fireChannelActive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case TLSUserEvent.handshakeCompleted where outcome.phase == .tls:
            if request.purpose == .handshake { return finish(.answered) }
            pass(to: .request)
            send(context)
        case let stop as Stop:
            switch stop {
            case .timedOut: finish(.timedOut)
            case .cancelled: finish(.cancelled)
            case .enough: finish(.answered)
            }
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    private func send(_ context: ChannelHandlerContext) {
        let sent = context.eventLoop.makePromise(of: Void.self)
        sent.futureResult.assumeIsolated().whenSuccess { [self] in
            if outcome.phase == .request { pass(to: .firstByte) }
        }
        byteGuard.expectAnswer()
        context.write(wrapOutboundOut(.head(request.head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: sent)
    }

    private func pass(to phase: ProbePhase) {
        let now = SystemClock.monotonic
        outcome.phases[outcome.phase] = now - began
        (outcome.phase, began) = (phase, now)
    }

    // MARK: The answer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return }
        switch unwrapInboundIn(data) {
        case .head(let head): take(head)
        case .body(let bytes): take(bytes)
        case .end: if outcome.answer != nil { finish(.answered) }
        }
    }

    private func take(_ head: HTTPResponseHead) {
        guard head.status.code >= 200 else {
            informational += 1
            // 101 changes the protocol, which nobody asked for (RFC 9110, 15.2.2).
            let isTolerable = head.status.code > 101 || head.status.code == 100
            if !isTolerable || informational > WebLimits.informational {
                finish(.failed(HTTPParserError.invalidStatus))
            }
            return
        }
        headGuard.isOpen = true
        outcome.answer = WebAnswer(head, at: trust.now())
        if outcome.phase == .request { pass(to: .firstByte) }
        if enough == 0 { return finish(.answered) }
        pass(to: .transfer)
    }

    private func take(_ bytes: ByteBuffer) {
        length += bytes.readableBytes
        if request.purpose == .portalAPI {
            guard length <= WebLimits.portal else { return finish(.tooLarge) }
            outcome.body += bytes.readableBytesView
        }
        if length >= enough { finish(.answered) }
    }

    // MARK: The end

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        // Many servers close without the farewell of TLS. Whether the answer was whole shows when the channel is told of it.
        case NIOSSLError.uncleanShutdown: break
        case HTTPParserError.invalidEOFState, is IOError, is ChannelError: finish(.closed)
        case HTTPParserError.headerOverflow: finish(.tooLarge)
        default: finish(.failed(error))
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        finish(.closed)
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        finish(.closed)
    }

    /// Tells, and closes the channel.
    private func finish(_ end: WebOutcome.End) {
        guard !isOver else { return }
        isOver = true
        outcome.end = end
        if case .answered = end { outcome.phases[outcome.phase] = SystemClock.monotonic - began }
        // At once: what is still on its way is not waited for.
        channel.triggerUserOutboundEvent(AbortHandler.Event(), promise: nil)
        ended.succeed(outcome)
    }
}

extension WebAnswer {
    /// - Parameter now: by our clock, since the beginning of 1970.
    init(_ head: HTTPResponseHead, at now: Duration) {
        status = Int(head.status.code)
        location = head.headers.first(name: "Location").map { String($0.prefix(WebLimits.location)) }
        response = head.headers.first(name: "Reachability-Response")
        clockOffset = head.headers.first(name: "Date").flatMap { HTTPDate($0) }.map { $0.sinceEpoch - now }
        if status == 429 || status == 503, let text = head.headers.first(name: "Retry-After") {
            retryAfter = RetryAfter.wait(text, now: (now + (clockOffset ?? .zero)).components.seconds)
        }
    }
}

/// Stands before the decoder of HTTP and lets no more through than heads may have until the answer's own head is read: the decoder
/// keeps what it has not understood yet.
private final class HeadGuard: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// Whether the head is there.
    var isOpen = false
    /// Heads, answers before the answer, and the first of the body that comes with them.
    private var left = 2 * WebLimits.head

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if !isOpen {
            left -= unwrapInboundIn(data).readableBytes
            guard left >= 0 else { return context.fireErrorCaught(HTTPParserError.headerOverflow) }
        }
        context.fireChannelRead(data)
    }
}
