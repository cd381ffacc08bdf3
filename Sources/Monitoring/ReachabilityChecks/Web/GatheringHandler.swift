import NIOCore

/// Sends together what is written within one turn of the event loop: the last message of a handshake goes with the request.
final class GatheringHandler: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var isWaiting = false

    func flush(context: ChannelHandlerContext) {
        guard !isWaiting else { return }
        isWaiting = true
        context.eventLoop.assumeIsolated().execute { self.send(context) }
    }

    /// What was written before, a farewell of TLS for example, goes before the end.
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        send(context)
        context.close(mode: mode, promise: promise)
    }

    private func send(_ context: ChannelHandlerContext) {
        guard isWaiting else { return }
        isWaiting = false
        context.flush()
    }
}
