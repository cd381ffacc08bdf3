import LinuxPrimitives
import NIOCore
import NIOHTTP1
import NIOPosix

/// A server on the loopback address that answers in turn, and keeps the header fields it was sent.
final class TracedServer: Sendable {
    enum Answer: Sendable {
        case status(Int)
        /// A redirect with 302.
        case redirect(String)
        /// No answer: the end of the connection.
        case close
    }

    /// A request: all values of each field, by its name in lower case.
    struct Seen: Sendable {
        let fields: [String: [String]]
    }

    private let channel: any Channel
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let requests = Locked<[Seen]>([])

    /// - Parameter answers: The last is given again and again.
    init(_ answers: [Answer]) async throws {
        let requests = requests
        channel = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    let handler = Handler { seen in
                        requests.withLock { requests in
                            requests.append(seen)
                            return answers[min(requests.count, answers.count) - 1]
                        }
                    }
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    var seen: [Seen] { requests.withLock { $0 } }

    func url(_ path: String) -> String { "http://127.0.0.1:\(channel.localAddress?.port ?? 0)\(path)" }

    func close() async throws {
        try await channel.close()
        try await group.shutdownGracefully()
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let answer: (Seen) -> Answer
        private var fields: [String: [String]] = [:]

        init(_ answer: @escaping (Seen) -> Answer) { self.answer = answer }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                fields = Dictionary(head.headers.map { ($0.name.lowercased(), [$0.value]) }, uniquingKeysWith: +)
            case .body: break
            case .end:
                switch answer(Seen(fields: fields)) {
                case .status(let status): reply(status, [], context)
                case .redirect(let place): reply(302, [("Location", place)], context)
                case .close: context.close(promise: nil)
                }
            }
        }

        private func reply(_ status: Int, _ fields: [(String, String)], _ context: ChannelHandlerContext) {
            let headers = HTTPHeaders(fields + [("Content-Length", "0")])
            let head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: status), headers: headers)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
