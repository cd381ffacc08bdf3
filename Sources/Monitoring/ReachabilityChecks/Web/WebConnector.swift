import LinuxSupport
import NIOCore
import NIOHTTP1
import NIOPosix
import ServerTrustNIO

/// Gives a connection of the socket engine to an event loop, with limits for all that comes in.
struct WebConnector: HTTPConnecting {
    let connection: Connection
    let request: WebRequest

    func nextLoop() -> any EventLoop { RuntimeWarmUp.loops.next() }

    func connect(
        to target: FlightTarget,
        on loop: any EventLoop,
        prepare: @escaping @Sendable (any Channel) throws -> Void
    ) -> EventLoopFuture<any Channel> {
        guard let socket = connection.take() else { return loop.makeFailedFuture(ChannelError.ioOnClosedChannel) }
        return ClientBootstrap(group: loop)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            // One read at a time: none follows the one that was enough.
            .channelOption(.maxMessagesPerRead, value: 1)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: WebLimits.largestWindow))
            .channelInitializer { [request] channel in
                channel.eventLoop.makeCompletedFuture {
                    try prepare(channel)
                    try channel.pipeline.syncOperations.addHandler(ByteGuard(request))
                    guard request.url.scheme == .https else { return }
                    try channel.pipeline.syncOperations.addHandler(GatheringHandler())
                }
            }
            .withConnectedSocket(socket.release())
    }
}

/// Counts all bytes that come in, also those of TLS. The size of the body does not limit them: chunks have extensions, and TLS has
/// messages of its own.
final class ByteGuard: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer

    private let request: WebRequest
    private var left: Int
    /// A server that sends single bytes costs as many packets.
    private var reads = WebLimits.reads
    /// The number of bytes after the request; nil before it.
    private var answer: Int?

    init(_ request: WebRequest) {
        self.request = request
        left = WebLimits.bytes(request.purpose)
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard event is HTTPRequestBegins else { return context.triggerUserOutboundEvent(event, promise: promise) }
        left = min(left, WebLimits.bytesAfterwards(request.purpose))
        answer = 0
        promise?.succeed()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard left > 0, reads > 0 else { return }
        let count = unwrapInboundIn(data).readableBytes
        left -= count
        reads -= 1
        context.fireChannelRead(data)
        if left <= 0 || reads == 0 { context.fireErrorCaught(HTTPParserError.headerOverflow) }
        guard let before = answer else { return }
        answer = before + count
        if request.isTrial, before < WebLimits.trial, before + count >= WebLimits.trial {
            context.fireUserInboundEventTriggered(HTTPResponseSuffices())
        }
    }
}

/// Sends together what is written within one turn of the event loop, so that the last message of a handshake goes with the request.
private final class GatheringHandler: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var isWaiting = false

    func flush(context: ChannelHandlerContext) {
        guard !isWaiting else { return }
        isWaiting = true
        context.eventLoop.assumeIsolated().execute { self.send(context) }
    }

    /// Sends what was written before the end.
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
