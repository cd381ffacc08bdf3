import NIOCore
import NIOHTTP1

/// Asks a proxy for a tunnel (RFC 9110, 9.3.6).
///
/// Its promise is kept with the answer, with an error, or when it leaves the pipeline.
final class TunnelHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let head: HTTPRequestHead
    private let opened: EventLoopPromise<Void>
    private var isSent = false

    init(authority: String, authorization: String?, opened: EventLoopPromise<Void>) {
        var headers = HTTPHeaders([("Host", authority)])
        if let authorization { headers.add(name: "Proxy-Authorization", value: authorization) }
        head = HTTPRequestHead(version: .http1_1, method: .CONNECT, uri: authority, headers: headers)
        self.opened = opened
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { send(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        send(context)
        context.fireChannelActive()
    }

    private func send(_ context: ChannelHandlerContext) {
        guard !isSent else { return }
        isSent = true
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            guard !(200..<300).contains(head.status.code) else { return }
            opened.fail(
                TrustedHTTPFailure.proxyRefused(status: Int(head.status.code), reason: head.status.reasonPhrase)
            )
        case .body: break
        case .end:
            // Later than an error of what stands behind the answer: there must be nothing before TLS has begun.
            context.eventLoop.execute { [opened] in opened.succeed() }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        opened.fail(error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        opened.fail(ChannelError.eof)
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        opened.fail(ChannelError.ioOnClosedChannel)
    }
}
