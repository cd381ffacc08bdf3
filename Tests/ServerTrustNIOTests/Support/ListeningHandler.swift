import NIOCore

/// A handler that writes as soon as the channel is active, and records the first bytes and all errors.
final class ListeningHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The recorded results. All are complete when the connection has ended.
    struct Findings: Sendable {
        let greeting: EventLoopPromise<String?>
        let errors: EventLoopPromise<[any Error]>
        let written: EventLoopPromise<Void>

        init(_ loop: any EventLoop) {
            greeting = loop.makePromise()
            errors = loop.makePromise()
            written = loop.makePromise()
        }
    }

    private let findings: Findings
    private var errors: [any Error] = []
    private var isOver = false
    private var hasWritten = false

    init(_ findings: Findings) {
        self.findings = findings
    }

    func channelActive(context: ChannelHandlerContext) {
        hasWritten = true
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "GET / HTTP/1.0\r\n\r\n")), promise: findings.written)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        greet(String(buffer: unwrapInboundIn(data)))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        errors.append(error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        greet(nil)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        greet(nil)
        if !hasWritten { findings.written.fail(ChannelError.ioOnClosedChannel) }
        findings.errors.succeed(errors)
    }

    private func greet(_ text: String?) {
        guard !isOver else { return }
        isOver = true
        findings.greeting.succeed(text)
    }
}
