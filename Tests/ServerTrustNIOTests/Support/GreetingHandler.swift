import NIOCore
import NIOSSL
import NIOTLS

/// Says `hello` when TLS is there, and tells what it hears.
final class GreetingHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let record: (@Sendable (inout LoopbackServer.Visit) -> Void) -> Void

    init(record: @escaping (@Sendable (inout LoopbackServer.Visit) -> Void) -> Void) {
        self.record = record
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case TLSUserEvent.handshakeCompleted? = event as? TLSUserEvent else { return }
        record { $0.isDone = true }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "hello")), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let text = String(buffer: unwrapInboundIn(data))
        record { $0.received += text }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
