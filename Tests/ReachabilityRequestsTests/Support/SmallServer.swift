import LinuxPrimitives
import NIOCore
import NIOHTTP1
import NIOPosix

/// A request as a server has seen it.
struct Seen: Sendable {
    let method: String
    let path: String
    let fields: [String: String]
    let body: [UInt8]
}

/// What a server answers.
struct Reply: Sendable {
    var status = 200
    var fields: [String: String] = [:]
    var body: [UInt8] = []
    /// What Content-Length says; nil for the truth.
    var length: Int?
    /// Whether the connection is closed behind the body.
    var closes = false
    /// Whether nothing follows behind the body, not even the end of the connection.
    var stalls = false
    /// Whether nothing is answered at all.
    var isSilent = false

    static let silence = Reply(isSilent: true)

    init(
        _ body: String = "",
        status: Int = 200,
        type: String? = nil,
        fields: [String: String] = [:],
        isSilent: Bool = false
    ) {
        self.body = Array(body.utf8)
        self.status = status
        self.fields = fields
        if let type { self.fields["Content-Type"] = type }
        self.isSilent = isSilent
    }
}

/// A server on the loopback address, which answers as a closure says.
final class SmallServer: Sendable {
    private let channel: any Channel
    private let group: MultiThreadedEventLoopGroup
    private let seenRequests = Locked<[Seen]>([])
    private let arrival: AsyncStream<Void>.Continuation
    /// Has an element for each request that came.
    let arrivals: AsyncStream<Void>

    init(_ answer: @escaping @Sendable (Seen) -> Reply) async throws {
        (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let (seenRequests, arrival) = (seenRequests, arrival)
        channel = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    let handler = SmallHandler { request in
                        seenRequests.withLock { $0.append(request) }
                        arrival.yield()
                        return answer(request)
                    }
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    var seen: [Seen] { seenRequests.withLock { $0 } }

    func url(_ path: String = "/") -> String { "http://127.0.0.1:\(channel.localAddress?.port ?? 0)\(path)" }

    func close() async throws {
        try await channel.close()
        try await group.shutdownGracefully()
    }
}

private final class SmallHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let answer: (Seen) -> Reply
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    init(_ answer: @escaping (Seen) -> Reply) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): (self.head, body) = (head, [])
        case .body(let part): body += part.readableBytesView
        case .end:
            guard let head else { return }
            let fields = Dictionary(head.headers.map { ($0.name.lowercased(), $0.value) }) { "\($0), \($1)" }
            let seen = Seen(method: head.method.rawValue, path: head.uri, fields: fields, body: body)
            reply(answer(seen), to: head, context)
        }
    }

    private func reply(_ reply: Reply, to request: HTTPRequestHead, _ context: ChannelHandlerContext) {
        guard !reply.isSilent else { return }
        var headers = HTTPHeaders(reply.fields.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
        headers.add(name: "Content-Length", value: "\(reply.length ?? reply.body.count)")
        let head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: reply.status), headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if request.method != .HEAD, !reply.body.isEmpty {
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: reply.body)))), promise: nil)
        }
        if reply.stalls {
            context.flush()
        } else if reply.closes {
            let channel = context.channel
            context.flush()
            channel.close(promise: nil)
        } else {
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
