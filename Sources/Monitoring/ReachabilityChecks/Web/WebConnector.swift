import LinuxSupport
import NIOCore
import NIOHTTP1
import NIOPosix
import ServerTrustNIO

/// Passes a connection of the socket engine to an event loop, with limits for the received data.
struct WebConnector: HTTPConnecting {
    let connection: Connection
    let request: WebRequest

    func nextLoop() -> any EventLoop { RuntimeWarmUp.loops.next() }

    func connect(
        to target: ConnectionTarget,
        on loop: any EventLoop,
        prepare: @escaping @Sendable (any Channel) throws -> Void
    ) -> EventLoopFuture<any Channel> {
        guard let socket = connection.take() else { return loop.makeFailedFuture(ChannelError.ioOnClosedChannel) }
        let (dialogue, ready) = (request.startTLS, loop.makePromise(of: Void.self))
        if dialogue == nil { ready.succeed() }
        return ClientBootstrap(group: loop)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            // One read at a time, so that no read follows the last needed one.
            .channelOption(.maxMessagesPerRead, value: 1)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: WebLimits.read))
            .channelInitializer { [request] channel in
                channel.eventLoop.makeCompletedFuture {
                    try prepare(channel)
                    try channel.pipeline.syncOperations.addHandler(ByteGuard(request))
                    guard request.url.scheme == .https else { return }
                    try channel.pipeline.syncOperations.addHandler(GatheringHandler())
                    guard let dialogue else { return }
                    let handler = StartTLSHandler(dialogue, ready: ready)
                    try channel.pipeline.syncOperations.addHandler(handler, name: Self.dialogueName)
                }
            }
            .withConnectedSocket(socket.release())
            .flatMap { (channel: any Channel) -> EventLoopFuture<any Channel> in
                guard dialogue != nil else { return loop.makeSucceededFuture(channel) }
                return ready.futureResult.flatMap { channel.pipeline.removeHandler(name: Self.dialogueName) }
                    .map { channel }
            }
            .flatMapErrorThrowing { error in
                ready.fail(error)
                throw error
            }
    }

    private static let dialogueName = "dialogue"
}

/// Limits all received bytes, including those of TLS. A limit for the body is not sufficient, because chunks have extensions and TLS has
/// its own messages.
final class ByteGuard: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer

    private let request: WebRequest
    private var left: Int
    /// The remaining number of reads. A server that sends single bytes costs one packet per byte.
    private var reads = WebLimits.reads
    /// The number of bytes received after the request; nil before the request.
    private var answer: Int?

    init(_ request: WebRequest) {
        self.request = request
        left = request.byteLimit
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard event is HTTPRequestBegins else { return context.triggerUserOutboundEvent(event, promise: promise) }
        left = min(left, request.byteLimitAfterwards)
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

/// Combines the writes of one turn of the event loop, so that the last handshake message and the request share a packet.
private final class GatheringHandler: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var isWaiting = false

    func flush(context: ChannelHandlerContext) {
        guard !isWaiting else { return }
        isWaiting = true
        context.eventLoop.assumeIsolated().execute { self.send(context) }
    }

    /// Sends pending writes before the connection is closed.
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
