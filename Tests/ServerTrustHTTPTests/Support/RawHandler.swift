import Glibc
import NIOCore

/// One connection of the ``RawServer``: collects a request, and does as it is told.
final class RawHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let answer: (String, ChannelHandlerContext) -> Reply?
    private var received = ""
    private var isAnswered = false

    /// - Parameter answer: Nil when somebody else answers.
    init(answer: @escaping (String, ChannelHandlerContext) -> Reply?) {
        self.answer = answer
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isAnswered else { return }
        received += String(buffer: unwrapInboundIn(data))
        guard isWhole else { return }
        isAnswered = true
        guard let reply = answer(received, context) else { return }
        for piece in reply.pieces {
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: piece)), promise: nil)
        }
        end(reply, context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    /// The head, and as much behind it as it announces.
    private var isWhole: Bool {
        guard let end = received.firstRange(of: "\r\n\r\n") else { return false }
        let head = received[..<end.lowerBound].lowercased()
        let field = head.split(separator: "\r\n").first { $0.hasPrefix("content-length: ") }
        return received[end.upperBound...].utf8.count >= field.flatMap { Int($0.dropFirst(16)) } ?? 0
    }

    private func end(_ reply: Reply, _ context: ChannelHandlerContext) {
        switch reply.ending {
        case .stay: break
        case .close:
            let channel = context.channel
            // Behind what is written.
            context.writeAndFlush(wrapOutboundOut(ByteBuffer())).whenComplete { _ in channel.close(promise: nil) }
        case .reset:
            let channel = context.channel
            let provider = channel as? any SocketOptionProvider
            let set = provider?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
            (set ?? context.eventLoop.makeSucceededVoidFuture()).whenComplete { _ in channel.close(promise: nil) }
        case .endless:
            guard let last = reply.pieces.last else { return }
            Self.send(ByteBuffer(bytes: last), context.channel)
        }
    }

    private static func send(_ bytes: ByteBuffer, _ channel: any Channel) {
        // Not at once: many writes would be many frames of the stack.
        channel.writeAndFlush(bytes).whenSuccess { channel.eventLoop.execute { send(bytes, channel) } }
    }
}
