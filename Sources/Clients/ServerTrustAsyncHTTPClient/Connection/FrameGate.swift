import NIOCore

/// Keeps back what comes in until the connection has been judged.
final class FrameGate: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny
    typealias OutboundIn = NIOAny

    private var context: ChannelHandlerContext?
    private var frames: [NIOAny] = []
    private var isReadWanted = false

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { frames.append(data) }

    /// Nothing more is read from the socket, so that no peer can fill the memory.
    func read(context: ChannelHandlerContext) { isReadWanted = true }

    func open() {
        guard let context else { return }
        for frame in frames { context.fireChannelRead(frame) }
        // Streams flush nothing between a frame and the end of the frames.
        if !frames.isEmpty { context.fireChannelReadComplete() }
        frames = []
        if isReadWanted { context.read() }
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }
}
