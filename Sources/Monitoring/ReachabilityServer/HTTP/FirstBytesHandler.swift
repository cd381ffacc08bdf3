import NIOCore

/// Reports the first bytes of each request, before the HTTP decoder has a whole head. Not thread-safe.
final class FirstBytesHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// Called on the event loop at the first bytes of a request.
    var notify: (() -> Void)?
    /// Whether bytes of a request have come that is not whole yet.
    private(set) var hasBegun = false
    /// Whether the bytes that are being decoded end with a line: only then nothing of a further head can be behind a request without a body.
    private var endsWithLine = false

    /// The decoder has passed on the end of a request.
    ///
    /// - Parameter hadBody: Whether it had a body, whose last byte may be any.
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
