import NIOCore

/// One connection: collects a request, and answers it.
final class WebVisit: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let waitsForRequest: Bool
    private let answer: (String) -> (pieces: [[UInt8]], isClosed: Bool)
    private var received = ""
    private var isAnswered = false

    init(waitsForRequest: Bool, answer: @escaping (String) -> (pieces: [[UInt8]], isClosed: Bool)) {
        self.waitsForRequest = waitsForRequest
        self.answer = answer
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isAnswered else { return }
        received += String(buffer: unwrapInboundIn(data))
        guard !waitsForRequest || received.hasSuffix("\r\n\r\n") else { return }
        isAnswered = true
        let (pieces, isClosed) = answer(received)
        for piece in pieces { context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: piece)), promise: nil) }
        if isClosed {
            // Behind what is written.
            let channel = context.channel
            context.writeAndFlush(wrapOutboundOut(ByteBuffer())).whenComplete { _ in channel.close(promise: nil) }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}

/// Closes the connection when it is made.
final class Farewell: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func channelActive(context: ChannelHandlerContext) {
        context.close(promise: nil)
    }
}
