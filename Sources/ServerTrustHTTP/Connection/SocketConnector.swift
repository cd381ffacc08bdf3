import NIOCore
import NIOPosix

/// Connects over TCP, to whichever address of the host answers first (RFC 8305, as SwiftNIO does it).
struct SocketConnector: HTTPConnecting {
    /// What is read at once.
    static let readBytes = 16 << 10

    let group: MultiThreadedEventLoopGroup

    func nextLoop() -> any EventLoop { group.next() }

    func connect(
        to target: FlightTarget,
        on loop: any EventLoop,
        prepare: @escaping @Sendable (any Channel) throws -> Void
    ) -> EventLoopFuture<any Channel> {
        ClientBootstrap(group: loop)
            .connectTimeout(TimeAmount(limit: target.settings.connectTimeLimit))
            // Who says stop after one read gets no other.
            .channelOption(.maxMessagesPerRead, value: 1)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Self.readBytes))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try prepare(channel) }
            }
            .connect(host: target.host, port: target.port)
    }
}
