import LinuxPrimitives
import NIOCore
import NIOPosix

/// Says something to everybody who connects, and closes; nothing if there is nothing to say.
final class GreetingServer: Sendable {
    private let channel: any Channel
    private let state = Locked((made: 0, closed: 0))

    init(_ text: String) async throws {
        let state = state
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                state.withLock { $0.made += 1 }
                channel.closeFuture.whenComplete { _ in state.withLock { $0.closed += 1 } }
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Greeting(text))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    var port: Int { channel.localAddress?.port ?? 0 }

    func waitForConnections(_ count: Int) async {
        while state.withLock({ $0.made }) < count { await Task.yield() }
    }

    func waitUntilClosed(_ count: Int) async {
        while state.withLock({ $0.closed }) < count { await Task.yield() }
    }

    func close() async throws {
        try await channel.close()
    }

    private final class Greeting: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let text: String

        init(_ text: String) {
            self.text = text
        }

        func channelActive(context: ChannelHandlerContext) {
            guard !text.isEmpty else { return }
            // Half a close: a whole one with something unread is a reset.
            context.writeAndFlush(NIOAny(ByteBuffer(string: text)), promise: nil)
            context.close(mode: .output, promise: nil)
        }
    }
}
