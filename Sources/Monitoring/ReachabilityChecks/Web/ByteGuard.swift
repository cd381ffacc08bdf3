import NIOCore
import NIOHTTP1
import ServerTrustNIO

/// Stands before everything else, TLS too, and counts all that comes in: the body of an answer is not all that a server may send. Chunks
/// have extensions, TLS has messages that nobody asked for.
final class ByteGuard: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let request: WebRequest
    private var left: Int
    /// Who sends single bytes costs as many packets.
    private var reads = WebLimits.reads
    private var records = RecordSizes()
    /// Of what comes after the request; nil before.
    private var answer: Int?

    init(_ request: WebRequest) {
        self.request = request
        left = WebLimits.bytes(request.purpose)
    }

    /// The request is sent.
    func expectAnswer() {
        left = min(left, WebLimits.bytesAfterwards(request.purpose))
        answer = 0
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard left > 0, reads > 0 else { return }
        let bytes = unwrapInboundIn(data)
        let count = bytes.readableBytes
        left -= count
        if request.url.scheme == .https {
            let record = records.take(bytes.readableBytesView)
            // It is not waited for what would be too large.
            if answer != nil, record > left + count { left = 0 }
        }
        reads -= 1
        context.fireChannelRead(data)
        if left <= 0 || reads == 0 { context.fireErrorCaught(HTTPParserError.headerOverflow) }
        guard let before = answer else { return }
        answer = before + count
        if request.isTrial, before < WebLimits.trial, before + count >= WebLimits.trial {
            context.fireUserInboundEventTriggered(WebConversation.Stop.enough)
        }
    }
}
