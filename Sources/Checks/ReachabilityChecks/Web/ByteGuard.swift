import NIOCore
import NIOHTTP1

/// Stands before everything else, TLS too, and counts all that comes in: the body of an answer is not all that a server may send. Chunks
/// have extensions, TLS has messages that nobody asked for.
final class ByteGuard: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private var bytes: Int
    /// Who sends single bytes costs as many packets.
    private var reads = WebLimits.reads

    init(_ purpose: WebRequest.Purpose) {
        bytes = WebLimits.bytes(purpose)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        bytes -= unwrapInboundIn(data).readableBytes
        reads -= 1
        guard bytes >= 0, reads >= 0 else { return context.fireErrorCaught(HTTPParserError.headerOverflow) }
        context.fireChannelRead(data)
    }
}
