import LinuxSupport
import NIOCore
import NIOEmbedded
import Testing

@testable import ServerTrustNIO

/// A connector whose connections are in memory and whose time is set by the test.
final class TestingConnector: HTTPConnecting {
    let loop = NIOAsyncTestingEventLoop()
    private let isReachable: Bool
    private let channels = Locked<[NIOAsyncTestingChannel]>([])
    private let waiting = Locked<[EventLoopPromise<any Channel>]>([])

    /// - Parameter isReachable: Whether connection attempts succeed. Otherwise they wait until `failAttempts()`.
    init(isReachable: Bool = true) {
        self.isReachable = isReachable
    }

    func nextLoop() -> any EventLoop { loop }

    func connect(
        to target: ConnectionTarget,
        on loop: any EventLoop,
        prepare: @escaping @Sendable (any Channel) throws -> Void
    ) -> EventLoopFuture<any Channel> {
        guard isReachable else {
            let promise = loop.makePromise(of: (any Channel).self)
            waiting.withLock { $0.append(promise) }
            return promise.futureResult
        }
        let channel = NIOAsyncTestingChannel(loop: self.loop)
        return loop.submit { try prepare(channel) }
            .flatMapThrowing { try SocketAddress(ipAddress: "192.0.2.1", port: target.port) }
            .flatMap { channel.connect(to: $0) }
            .map {
                self.channels.withLock { $0.append(channel) }
                return channel
            }
    }

    /// Waits for the connection with a number, and returns it.
    func channel(_ number: Int = 0) async -> NIOAsyncTestingChannel {
        while true {
            if let channel = channels.withLock({ $0.count > number ? $0[number] : nil }) {
                return channel
            }
            await Task.yield()
        }
    }

    /// Waits until a connection attempt is pending.
    func waitForAttempt() async {
        while waiting.withLock({ $0.isEmpty }) { await Task.yield() }
    }

    func failAttempts() {
        let promises = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for promise in promises { promise.fail(ChannelError.eof) }
    }
}
