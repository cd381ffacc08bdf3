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

/// Makes an answer of its parts, within the limits.
struct ResponseCollector {
    /// Answers before the answer (1xx, RFC 9110, 15.2): no server needs more.
    static let maximumInformational = 16

    let url: TrustedHTTPURL
    let method: HTTPMethod
    let maximumBodyBytes: Int
    let endsWithHead: Bool
    let handshake: TrustedHandshake?
    private var informational = 0
    private var head: HTTPResponseHead?
    private var body: [UInt8] = []

    init(
        url: TrustedHTTPURL,
        method: HTTPMethod,
        maximumBodyBytes: Int,
        endsWithHead: Bool = false,
        handshake: TrustedHandshake?
    ) {
        self.url = url
        self.method = method
        self.maximumBodyBytes = maximumBodyBytes
        self.endsWithHead = endsWithHead
        self.handshake = handshake
    }

    /// Whether the head of the answer itself has come.
    var hasHead: Bool { head != nil }

    /// The whole answer with its last part.
    mutating func add(_ part: HTTPClientResponsePart) throws(TrustedHTTPFailure) -> TrustedHTTPResponse? {
        switch part {
        case .head(let head):
            try add(head)
            return endsWithHead ? response : nil
        case .body(let bytes):
            guard body.count + bytes.readableBytes <= maximumBodyBytes else {
                throw .bodyTooLarge(limit: maximumBodyBytes)
            }
            body.append(contentsOf: bytes.readableBytesView)
            return nil
        case .end:
            return response
        }
    }

    /// What has come of it; nil before its head.
    private var response: TrustedHTTPResponse? {
        head.map { head in
            TrustedHTTPResponse(
                status: head.status,
                headers: head.headers,
                body: body,
                url: url,
                handshake: handshake
            )
        }
    }

    private mutating func add(_ head: HTTPResponseHead) throws(TrustedHTTPFailure) {
        switch head.status.code {
        case ..<100: throw .malformedResponse("its status is \(head.status.code)")
        case 101: throw .malformedResponse("it changes protocols, which nobody wanted")
        case ..<200:
            informational += 1
            guard informational <= Self.maximumInformational else {
                throw .malformedResponse("more than \(Self.maximumInformational) answers before the answer (1xx)")
            }
        default:
            self.head = head
            let hasBody = method != .HEAD && head.status.code != 204 && head.status.code != 304
            if hasBody, !endsWithHead { try checkFraming(head.headers) }
        }
    }

    private func checkFraming(_ headers: HTTPHeaders) throws(TrustedHTTPFailure) {
        // Other codings were not asked for, and where the body ends would be anybody's guess (RFC 9112, 6.1).
        let codings = headers[canonicalForm: "Transfer-Encoding"]
        guard codings.isEmpty || codings.count == 1 && codings[0].lowercased() == "chunked" else {
            throw .malformedResponse("its body is encoded with \(codings.joined(separator: ", "))")
        }
        if codings.isEmpty, let announced = headers.first(name: "Content-Length") {
            // The decoder has seen that it is a number; one beyond Int is too large as well.
            guard let count = Int(announced), count <= maximumBodyBytes else {
                throw .bodyTooLarge(limit: maximumBodyBytes)
            }
        }
    }
}
