import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix

/// One connection of the ``FaultServer``.
final class FaultHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let connection: Int
    private let see: (FaultServer.Sight) -> Void
    private var head: HTTPRequestHead?
    private var body = ""

    init(connection: Int, see: @escaping (FaultServer.Sight) -> Void) {
        self.connection = connection
        self.see = see
    }

    /// What a redirect leads to says it in its path; the field comes along from hop to hop.
    private var fault: Fault {
        guard let head else { return .answer(200) }
        if head.uri.hasPrefix("/fault/") { return Fault(String(head.uri.dropFirst(7))) }
        return Fault(head.headers.first(name: "X-Fault") ?? "")
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body = ""
            if fault == .resetBeforeHead {
                record(isComplete: false)
                reset(context)
            }
        case .body(let part):
            body += String(buffer: part)
        case .end:
            guard head != nil else { return }
            record(isComplete: true)
            act(context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func record(isComplete: Bool) {
        guard let head else { return }
        let headers = head.headers.map { ($0.name.lowercased(), $0.value) }
        see(
            FaultServer.Sight(
                id: head.headers.first(name: "X-ID") ?? "",
                method: head.method.rawValue,
                headers: Dictionary(headers) { first, _ in first },
                body: body,
                isComplete: isComplete,
                connection: connection,
                time: .now
            )
        )
    }

    private func act(_ context: ChannelHandlerContext) {
        let fault = fault
        head = nil
        switch fault {
        case .answer(let status, let retryAfter):
            let headers = retryAfter.map { [("Retry-After", $0)] } ?? []
            answer(context, status, HTTPHeaders(headers), body: "status \(status)")
        case .redirect(let status, let url):
            answer(context, status, HTTPHeaders([("Location", url)]), body: "")
        case .body(let count, let status):
            answer(context, status, HTTPHeaders(), body: String(repeating: "x", count: count))
        case .resetBeforeHead, .refuse, .noName: break
        case .resetAfterBody: reset(context)
        case .closeAfterBody: context.close(promise: nil)
        case .resetMidBody:
            answerByHalves(context, 200)
            // A moment later: with the reset the other side's kernel throws away what was not read yet.
            after(5, context) { self.reset($0) }
        case .stall(let status): answerByHalves(context, status)
        case .hang: break
        case .slow(let milliseconds):
            after(milliseconds, context) { self.answer($0, 200, HTTPHeaders(), body: "late") }
        case .garbage:
            let encoder = try? context.pipeline.syncOperations.context(handlerType: HTTPResponseEncoder.self)
            encoder?.writeAndFlush(NIOAny(ByteBuffer(string: "This is no answer.\r\n\r\n")), promise: nil)
            context.close(promise: nil)
        }
    }

    private func after(
        _ milliseconds: Int,
        _ context: ChannelHandlerContext,
        _ body: @escaping (ChannelHandlerContext) -> Void
    ) {
        context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(Int64(milliseconds))) {
            if context.channel.isActive { body(context) }
        }
    }

    private func answer(_ context: ChannelHandlerContext, _ status: Int, _ headers: HTTPHeaders, body: String) {
        var headers = headers
        headers.add(name: "Content-Length", value: String(body.utf8.count))
        let head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: status), headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: body)))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    private func answerByHalves(_ context: ChannelHandlerContext, _ status: Int) {
        let headers = HTTPHeaders([("Content-Length", "1000")])
        let head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: status), headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: "half")))), promise: nil)
    }

    /// Closes with RST, and not with FIN: socket(7), SO_LINGER of zero.
    private func reset(_ context: ChannelHandlerContext) {
        head = nil
        let channel = context.channel
        let provider = channel as? any SocketOptionProvider
        let set = provider?.setSoLinger(linger(l_onoff: 1, l_linger: 0)) ?? channel.eventLoop.makeSucceededVoidFuture()
        set.whenComplete { _ in channel.close(promise: nil) }
    }
}
