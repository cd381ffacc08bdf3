import LinuxPrimitives
import NIOCore
import NIOPosix

/// A proxy that answers every CONNECT with a tunnel to one port of the loopback.
final class ConnectProxy: Sendable {
    private let channel: any Channel
    private let asked = Locked<[String]>([])

    var port: Int { channel.localAddress?.port ?? 0 }
    var targets: [String] { asked.withLock { $0 } }

    init(to target: Int) async throws {
        let asked = asked
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(TunnelHandler(asked, target))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    func close() async throws { try await channel.close() }

    private final class TunnelHandler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let asked: Locked<[String]>
        private let target: Int
        private var head = ""
        private var server: EventLoopFuture<any Channel>?

        init(_ asked: Locked<[String]>, _ target: Int) {
            self.asked = asked
            self.target = target
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let buffer = unwrapInboundIn(data)
            if let server {
                server.whenSuccess { $0.writeAndFlush(buffer, promise: nil) }
                return
            }
            head += String(buffer: buffer)
            guard head.hasSuffix("\r\n\r\n") else { return }
            let name = head.split(separator: " ").dropFirst().first.map(String.init) ?? ""
            asked.withLock { $0.append(name) }
            let client = context.channel
            let server = ClientBootstrap(group: context.eventLoop)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(ReturnHandler(client))
                    }
                }
                .connect(host: "127.0.0.1", port: target)
            self.server = server
            server.whenComplete { result in
                guard case .success = result else { return client.close(promise: nil) }
                client.writeAndFlush(ByteBuffer(string: "HTTP/1.1 200 OK\r\n\r\n"), promise: nil)
            }
        }

        func channelInactive(context: ChannelHandlerContext) {
            server?.whenSuccess { $0.close(promise: nil) }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }

    private final class ReturnHandler: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer

        private let client: any Channel

        init(_ client: any Channel) { self.client = client }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            client.writeAndFlush(unwrapInboundIn(data), promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) { client.close(promise: nil) }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
