import LinuxSupport
import NIOCore
import NIOPosix
import ServerTrustNIO

/// One request over a connection that the engine has made, whose socket SwiftNIO's event loops take over.
struct WebVisit: Sendable {
    let request: WebRequest
    let trust: WebTrust
    let limit: Duration

    /// Returns when the event loop has closed its socket. A task that is cancelled has that done at once.
    func outcome(over socket: consuming Descriptor, _ meter: ConnectionMeter) async -> (WebOutcome, TCPInformation?) {
        let loop = Footing.loops.next()
        let ended = loop.makePromise(of: WebOutcome.self)
        let channel = channel(over: socket, on: loop, ended: ended)
        channel.whenFailure { ended.fail($0) }
        let clock = loop.scheduleTask(in: TimeAmount(max(.zero, limit))) { stop(channel, .timedOut) }
        let outcome = await withTaskCancellationHandler {
            // It fails only where the event loop cannot take the socket, which is closed then.
            (try? await ended.futureResult.get()) ?? WebOutcome()
        } onCancel: {
            stop(channel, .cancelled)
        }
        clock.cancel()
        // One packet, and nothing that would be sent again long after.
        meter.resetWhenClosed()
        let information = meter.information
        if let channel = try? await channel.get() { try? await channel.closeFuture.get() }
        return (outcome, information)
    }

    private var portions: FixedSizeRecvByteBufferAllocator { .init(capacity: Int(WebLimits.largestWindow)) }

    private func channel(
        over socket: consuming Descriptor,
        on loop: any EventLoop,
        ended: EventLoopPromise<WebOutcome>
    ) -> EventLoopFuture<any Channel> {
        ClientBootstrap(group: loop)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            // One read at a time: none follows the one that was enough.
            .channelOption(.maxMessagesPerRead, value: 1)
            .channelOption(.recvAllocator, value: portions)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try WebConversation.prepare(channel, for: request, trust: trust, ended: ended)
                }
            }
            .withConnectedSocket(socket.release())
    }

    private func stop(_ channel: EventLoopFuture<any Channel>, _ reason: WebConversation.Stop) {
        channel.whenSuccess { $0.pipeline.fireUserInboundEventTriggered(reason) }
    }
}
