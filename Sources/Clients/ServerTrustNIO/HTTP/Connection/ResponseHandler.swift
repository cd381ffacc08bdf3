import NIOCore
import NIOHTTP1

/// The end of the pipeline: sends the request, and reads the answer.
final class ResponseHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let head: HTTPRequestHead
    private let body: [UInt8]
    private let flight: HTTPFlight
    private var collector: ResponseCollector
    private var isSent = false

    init(head: HTTPRequestHead, body: [UInt8], collector: ResponseCollector, flight: HTTPFlight) {
        self.head = head
        self.body = body
        self.collector = collector
        self.flight = flight
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { send(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        send(context)
        context.fireChannelActive()
    }

    private func send(_ context: ChannelHandlerContext) {
        guard !isSent else { return }
        isSent = true
        flight.reach(.head)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if !body.isEmpty { context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: body)))), promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !flight.isOver else { return }
        do {
            if let response = try collector.add(unwrapInboundIn(data)) {
                flight.finish(.success(response))
                // TLS says farewell, and waits a while for the other side's (RFC 8446, 6.1); nobody waits for that.
                context.close(promise: nil)
            } else if collector.hasHead {
                flight.reach(.body)
            }
        } catch {
            flight.finish(.failure(error))
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        flight.fail(error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        flight.fail(ChannelError.eof)
        context.fireChannelInactive()
    }
}
