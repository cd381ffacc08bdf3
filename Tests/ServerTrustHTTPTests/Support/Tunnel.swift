import NIOCore
import NIOPosix

/// Hands bytes over to another connection, and its end.
final class Tunnel: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let other: any Channel

    init(to other: any Channel) {
        self.other = other
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        other.writeAndFlush(unwrapInboundIn(data), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        other.close(promise: nil)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    /// Connects to a port of this machine, and answers that it has.
    static func open(to port: Int, from context: ChannelHandlerContext) {
        let near = context.channel
        ClientBootstrap(group: near.eventLoop)
            .channelInitializer { far in
                far.eventLoop.makeCompletedFuture {
                    try far.pipeline.syncOperations.addHandler(Tunnel(to: near))
                }
            }
            .connect(host: "127.0.0.1", port: port)
            .flatMapThrowing { far in
                try near.pipeline.syncOperations.addHandler(Tunnel(to: far), position: .first)
            }
            .flatMap { near.writeAndFlush(ByteBuffer(string: "HTTP/1.1 200 Connected\r\nX: y\r\n\r\n")) }
            .whenFailure { _ in near.close(promise: nil) }
    }
}
