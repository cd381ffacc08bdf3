import NIOCore
import NIOHTTP1

/// Stands before the decoder of HTTP and lets no more through than heads may have until the answer's own head is read: the decoder
/// keeps what it has not understood yet.
final class HeadGuard: ChannelInboundHandler {
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
