import Dispatch
import LinuxSupport
package import NIOCore
import NIOHTTP1
import NIOSSL
import NIOTLS
import ServerTrust

/// A channel handler for the requests and the timeouts of one connection. It runs on the event loop.
///
/// The handlers before it in the pipeline parse requests, and deliver a request only after the answer to the previous one.
final class RequestHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private enum State {
        case idle
        case reading(HTTPRequestHead, [UInt8])
        /// The rest of a request is read that was already answered.
        case skipping
        case answering(HTTPRequestHead)
        case waiting(HTTPRequestHead, WebWait, Cancellation)
        case streaming(WebStream)
    }

    /// The size of the parts of a body, in bytes.
    private static let partSize = 65536

    private var peer: WebRequest.Peer
    private let client: WebClient
    private let shared: WebServer.Shared
    private let firstBytes: FirstBytesHandler
    /// A Boolean value that indicates whether the connection has ended.
    private let hasEnded = Locked(false)
    private var state = State.idle
    /// A Boolean value that indicates whether the connection ends after the current answer.
    private var isLast = false
    /// The number of answers that the socket has not yet accepted completely.
    private var unsent = 0
    /// A Boolean value that indicates whether a request was answered on this connection.
    private var isReused = false
    private var timer: Scheduled<Void>?
    /// The number of timeouts that were started or stopped. The event loop may still run a cancelled timeout that was due in the same turn.
    private var timeouts = 0

    init(_ peer: WebRequest.Peer, _ client: WebClient, _ shared: WebServer.Shared, _ firstBytes: FirstBytesHandler) {
        (self.peer, self.client, self.shared, self.firstBytes) = (peer, client, shared, firstBytes)
    }

    func channelActive(context: ChannelHandlerContext) {
        start(shared.limits.requestTime, context)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        firstBytes.notify = {
            let (handler, context) = bound.value
            // The first bytes of a request replace the timeout of an idle connection with that of a request.
            if case .idle = handler.state, handler.isReused {
                handler.start(handler.shared.limits.requestTime, context)
            }
        }
        if context.channel.isActive { start(shared.limits.requestTime, context) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        stopTimer()
        firstBytes.notify = nil
        hasEnded.withLock { $0 = true }
        if case .waiting(_, _, let waiting) = state { waiting.cancel() }
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch (unwrapInboundIn(data), state) {
        case (.head(let head), _):
            state = .reading(head, [])
            start(shared.limits.requestTime, context)
        case (.body(let part), .reading(let head, var body)):
            guard body.count + part.readableBytes <= shared.limits.bodySize else {
                state = .skipping
                let problem = Problem(.payloadTooLarge, "a body must have at most \(shared.limits.bodySize) bytes")
                return write(problem.answer(as: .json), to: head, closing: true, context)
            }
            body.append(contentsOf: part.readableBytesView)
            state = .reading(head, body)
        case (.end, .reading(let head, let body)):
            firstBytes.requestEnded(hadBody: !body.isEmpty)
            // The timeout of a request does not include the time that its answer takes.
            stopTimer()
            state = .answering(head)
            answer(head, body, context)
        case (.end, _): firstBytes.requestEnded(hadBody: true)
        case (.body, _): break
        }
    }

    private func answer(_ head: HTTPRequestHead, _ body: [UInt8], _ context: ChannelHandlerContext) {
        let request: WebRequest
        do {
            var read = try WebRequest(head, body: body, peer: peer)
            read.client = client
            if head.headers.contains(name: "X-Forwarded-For") {
                read.remote = WebClient.end(context.remoteAddress)?.address
            }
            read.isAbandoned = { [hasEnded] in hasEnded.withLock(\.self) }
            request = read
        } catch {
            return write(error.answer(as: .json), to: head, closing: true, context)
        }
        let (loop, channel) = (context.eventLoop, context.channel)
        let bound = NIOLoopBound((self, context), eventLoop: loop)
        let runningAnswers = shared.runningAnswers
        runningAnswers.enter()
        shared.respond(request) { answer in
            defer { runningAnswers.leave() }
            let answer = answer.compressed(for: request)
            loop.execute {
                guard channel.isActive else { return }
                let (handler, context) = bound.value
                if let begin = answer.stream, head.method != .HEAD {
                    handler.begin(answer, to: head, context, begin)
                } else if let wait = answer.wait, head.method != .HEAD {
                    handler.wait(wait, for: head, context)
                } else {
                    handler.write(answer, to: head, closing: !head.isKeepAlive, context)
                }
            }
        }
    }

    private func begin(
        _ answer: WebAnswer,
        to request: HTTPRequestHead,
        _ context: ChannelHandlerContext,
        _ begin: (WebStream) -> Void
    ) {
        guard hasPlace(for: request, context) else { return }
        stopTimer()
        let stream = WebStream(context.channel, shared)
        state = .streaming(stream)
        var head = head(of: answer, to: request)
        // The stream has no length. It ends with the connection.
        head.headers.replaceOrAdd(name: "Connection", value: "close")
        context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
        begin(stream)
        if isLast { end(context) }
    }

    /// Returns true if one more stream is allowed. Otherwise answers with 503 and returns false.
    private func hasPlace(for request: HTTPRequestHead, _ context: ChannelHandlerContext) -> Bool {
        if shared.statistics.withLock({ $0.streams < shared.limits.effectiveStreams }) { return true }
        let problem = Problem(
            .serviceUnavailable,
            "the maximum of \(shared.limits.effectiveStreams) streams is open; try again later",
            headers: [("Retry-After", "5")]
        )
        write(problem.answer(as: .json), to: request, closing: !request.isKeepAlive, context)
        return false
    }

    private func wait(_ wait: WebWait, for request: HTTPRequestHead, _ context: ChannelHandlerContext) {
        guard hasPlace(for: request, context) else { return }
        stopTimer()
        shared.statistics.withLock { $0.streams += 1 }
        let loop = context.eventLoop
        let bound = NIOLoopBound((self, context), eventLoop: loop)
        let waiting = wait.begin {
            loop.execute {
                let (handler, context) = bound.value
                handler.endWait(context, closing: !request.isKeepAlive)
            }
        }
        let statistics = shared.statistics
        state = .waiting(
            request,
            wait,
            Cancellation {
                waiting.cancel()
                statistics.withLock { $0.streams -= 1 }
            }
        )
        if isLast { end(context) }
    }

    private func endWait(_ context: ChannelHandlerContext, closing: Bool) {
        guard case .waiting(let request, let wait, let waiting) = state, context.channel.isActive else { return }
        waiting.cancel()
        state = .answering(request)
        write(wait.answer(), to: request, closing: closing, context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted = event { peer = .secured(certificate: Self.certificate(context)) }
        if event is ServerEnding { end(context) }
        context.fireUserInboundEventTriggered(event)
    }

    /// Ends the connection, after a running answer is complete.
    private func end(_ context: ChannelHandlerContext) {
        endWait(context, closing: true)
        switch state {
        case .streaming(let stream):
            stream.finish()
            let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
            context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in bound.value.close(promise: nil) }
        case .answering: isLast = true
        case .idle, .reading, .skipping, .waiting:
            if unsent > 0 { isLast = true } else { context.close(promise: nil) }
        }
    }

    /// Returns the name in the client's verified certificate; nil without one.
    private static func certificate(_ context: ChannelHandlerContext) -> String? {
        guard let shown = try? context.channel.pipeline.syncOperations.nioSSL_peerCertificate(),
            let bytes = try? shown.toDERBytes()
        else { return nil }
        return (try? TrustCertificate(derEncoded: bytes))?.description
    }

    private func write(
        _ answer: WebAnswer,
        to request: HTTPRequestHead,
        closing: Bool,
        _ context: ChannelHandlerContext
    ) {
        let closing = closing || isLast
        var head = head(of: answer, to: request)
        if answer.status != .notModified {
            head.headers.replaceOrAdd(name: "Content-Length", value: String(answer.body.count))
        }
        if closing {
            head.headers.replaceOrAdd(name: "Connection", value: "close")
        } else if request.version == .http1_0 {
            head.headers.replaceOrAdd(name: "Connection", value: "keep-alive")
        }
        start(shared.limits.answerTime, context)
        // The state is set first, because writing the end of the answer may deliver the next request.
        if case .answering = state { state = .idle }
        isReused = true
        unsent += 1
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if request.method != .HEAD { write(answer.body, context) }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in
            let (handler, context) = bound.value
            handler.unsent -= 1
            if closing { return context.close(promise: nil) }
            // An answer that is not complete yet ends the connection itself.
            if case .answering = handler.state { return }
            if handler.isLast, handler.unsent == 0 { return context.close(promise: nil) }
            guard case .idle = handler.state else { return }
            let hasBegun = handler.firstBytes.hasBegun
            handler.start(hasBegun ? handler.shared.limits.requestTime : handler.shared.limits.idleTime, context)
        }
    }

    /// Writes a body in parts. Each part that the socket has accepted restarts the timeout of the answer, unless the client has sent another
    /// request meanwhile.
    private func write(_ body: [UInt8], _ context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        var rest = ByteBuffer(bytes: body)
        while let part = rest.readSlice(length: min(rest.readableBytes, Self.partSize)), part.readableBytes > 0 {
            let accepted = rest.readableBytes > 0 ? context.eventLoop.makePromise(of: Void.self) : nil
            accepted?.futureResult.whenSuccess {
                let (handler, context) = bound.value
                guard case .idle = handler.state else { return }
                handler.start(handler.shared.limits.answerTime, context)
            }
            context.write(wrapOutboundOut(.body(.byteBuffer(part))), promise: accepted)
        }
    }

    /// Counts an answer and returns its head.
    private func head(of answer: WebAnswer, to request: HTTPRequestHead) -> HTTPResponseHead {
        shared.statistics.withLock { $0.answers[Int(answer.status.code) / 100, default: 0] += 1 }
        var head = HTTPResponseHead(version: request.version, status: answer.status)
        for field in answer.headers { head.headers.add(name: field.name, value: field.value) }
        head.headers.replaceOrAdd(name: "X-Content-Type-Options", value: "nosniff")
        return head
    }

    /// Starts a timeout that ends the connection. It replaces the previous timeout.
    private func start(_ time: Duration, _ context: ChannelHandlerContext) {
        stopTimer()
        let (statistics, number) = (shared.statistics, timeouts)
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: .nanoseconds(time.nanoseconds)) { [self] in
            guard timeouts == number else { return }
            statistics.withLock { $0.expired += 1 }
            context.close(promise: nil)
        }
    }

    private func stopTimer() {
        timer?.cancel()
        timer = nil
        timeouts += 1
    }
}

/// A channel handler that reports the first bytes of each request, before the HTTP decoder has a complete head. It runs on the event
/// loop.
final class FirstBytesHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// The function that is called for the first bytes of a request.
    var notify: (() -> Void)?
    /// A Boolean value that indicates whether a part of a request was received.
    private(set) var hasBegun = false
    /// A Boolean value that indicates whether the last received bytes end with a line feed. If not, the bytes after a request without a
    /// body are the beginning of another one.
    private var endsWithLine = false

    /// Records that the decoder has delivered the end of a request.
    func requestEnded(hadBody: Bool) { hasBegun = !endsWithLine && !hadBody }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data).readableBytesView
        endsWithLine = bytes.last == UInt8(ascii: "\n")
        let isFirst = !hasBegun
        hasBegun = true
        context.fireChannelRead(data)
        if isFirst, hasBegun { notify?() }
    }
}

/// The body of an answer that continues until the client or the server ends it. Thread-safe.
///
/// Unread bytes are kept in memory up to a limit. Above it, the connection is ended, so that a slow client does not delay others. Bytes
/// that are sent within one turn of the event loop are written together. The functions never write directly, so they may be called under a
/// lock.
package final class WebStream: Sendable {
    private struct State {
        /// The number of counted bytes that were not written to the socket yet.
        var bytes = 0
        /// The buffers that the next turn of the event loop writes.
        var pending: [ByteBuffer] = []
        var pendingBytes = 0
        var hasEnded = false
    }

    private let channel: any Channel
    private let shared: WebServer.Shared
    private let state = Locked(State())

    init(_ channel: any Channel, _ shared: WebServer.Shared) {
        (self.channel, self.shared) = (channel, shared)
        let statistics = shared.statistics
        statistics.withLock { $0.streams += 1 }
        channel.closeFuture.whenComplete { _ in statistics.withLock { $0.streams -= 1 } }
    }

    /// Calls an action on the event loop after the connection has ended.
    package func whenEnded(_ action: @escaping @Sendable () -> Void) {
        channel.closeFuture.whenComplete { _ in action() }
    }

    /// Discards further bytes. The caller has to write the end of the body.
    func finish() { state.withLock { $0.hasEnded = true } }

    /// Sends bytes. If the client is too slow, ends the connection.
    ///
    /// - Parameter isCounted: False for the initial snapshot, which may have any size.
    package func send(_ bytes: ByteBuffer, isCounted: Bool = true) {
        enum Step { case nothing, flush, close }
        let step = state.withLock { state -> Step in
            guard !state.hasEnded else { return .nothing }
            if isCounted {
                state.bytes += bytes.readableBytes
                state.pendingBytes += bytes.readableBytes
                state.hasEnded = state.bytes > shared.limits.streamBytes
                if state.hasEnded {
                    state.pending = []
                    return .close
                }
            }
            state.pending.append(bytes)
            return state.pending.count == 1 ? .flush : .nothing
        }
        let channel = channel
        switch step {
        case .nothing: break
        case .flush: channel.eventLoop.execute { self.flush() }
        case .close:
            shared.statistics.withLock { $0.slowStreams += 1 }
            channel.eventLoop.execute { channel.close(promise: nil) }
        }
    }

    private func flush() {
        let (pending, length) = state.withLock { state in
            defer { (state.pending, state.pendingBytes) = ([], 0) }
            return state.hasEnded ? ([], 0) : (state.pending, state.pendingBytes)
        }
        guard let last = pending.last else { return }
        for bytes in pending.dropLast() {
            channel.write(HTTPServerResponsePart.body(.byteBuffer(bytes)), promise: nil)
        }
        channel.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(last))).whenComplete { [state] _ in
            state.withLock { $0.bytes -= length }
        }
    }
}

/// The event that ends a connection, after a running answer is complete.
struct ServerEnding {}
