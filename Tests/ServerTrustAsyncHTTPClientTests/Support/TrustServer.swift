import LinuxSupport
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL
import TrustForge
import WebLab

/// A server of HTTP/1.1 and HTTP/2 on the loopback, which records requests and connections. It is not a `ScriptedServer`, because that has
/// no HTTP/2.
final class TrustServer: Sendable {
    struct Record: Sendable {
        /// The `Host` of each request.
        var requests: [String] = []
        /// Bytes that came out of TLS.
        var bytes = 0
        /// TCP connections, those of second handshakes too.
        var connections = 0
        var isWithClientCertificate: [Bool] = []
    }

    private let record = Locked(Record())
    private let children = Locked<[any Channel]>([])
    private let channel: any Channel

    var seen: Record { record.withLock { $0 } }
    var port: Int { channel.localAddress?.port ?? 0 }

    func url(_ host: String = Forge.host) -> String { "https://\(host):\(port)/" }

    /// - Parameters:
    ///   - chain: What is sent; nil speaks without TLS.
    ///   - clientRoot: Who must have signed the client's certificate.
    ///   - redirect: Where it sends everybody.
    ///   - isForOne: It has stopped to listen when its first handshake begins.
    init(
        _ chain: [Forged]?,
        clientRoot: Forged? = nil,
        redirect: String? = nil,
        isHTTP2: Bool = true,
        isForOne: Bool = false,
        address: String = "127.0.0.1"
    ) async throws {
        let protocols = isHTTP2 ? ["h2", "http/1.1"] : ["http/1.1"]
        let anchors = clientRoot.map { [$0] } ?? []
        let context = try chain.map { try NIOSSLContext.server($0, protocols: protocols, clientAnchors: anchors) }
        let (record, children) = (record, children)
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                record.withLock { $0.connections += 1 }
                children.withLock { $0.append(channel) }
                let answer: @Sendable (any Channel) throws -> Void = { channel in
                    try channel.pipeline.syncOperations.addHandler(AnsweringHandler(record, redirect: redirect))
                }
                return channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if isForOne { try pipeline.addHandler(ClosingHandler()) }
                    if let context { try pipeline.addHandler(NIOSSLServerHandler(context: context)) }
                    try pipeline.addHandler(CountingHandler(record))
                }.flatMap {
                    guard context != nil else {
                        return channel.pipeline.configureHTTPServerPipeline().flatMapThrowing { try answer(channel) }
                    }
                    return channel.configureCommonHTTPServerPipeline { channel in
                        channel.eventLoop.makeCompletedFuture { try answer(channel) }
                    }
                }
            }
            .bind(host: address, port: 0).get()
    }

    /// Tells every connection of HTTP/2 that it is over, and lets it be.
    func goAway() async throws {
        for child in children.withLock({ $0 }) {
            try await child.eventLoop.flatSubmit {
                let pipeline = child.pipeline.syncOperations
                guard child.isActive, (try? pipeline.handler(type: NIOHTTP2Handler.self)) != nil else {
                    return child.eventLoop.makeSucceededVoidFuture()
                }
                let payload = HTTP2Frame.FramePayload.goAway(lastStreamID: 0, errorCode: .noError, opaqueData: nil)
                return child.writeAndFlush(HTTP2Frame(streamID: .rootStream, payload: payload))
            }.get()
        }
    }

    /// Ends when every connection has, so that nothing more can be seen.
    func close() async throws {
        if channel.isActive { try await channel.close() }
        for child in children.withLock({ $0 }) { try await child.closeFuture.get() }
    }

    /// Ends all connections there are, and returns when they have ended.
    func cut() async {
        for child in children.withLock({ $0 }) {
            child.close(mode: .all, promise: nil)
            try? await child.closeFuture.get()
        }
    }

    /// Lets nothing through before the server has stopped to listen.
    private final class ClosingHandler: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = ByteBuffer

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = unwrapInboundIn(data)
            guard let listener = context.channel.parent else { return }
            let context = NIOLoopBound(context, eventLoop: context.eventLoop)
            listener.close().hop(to: context.eventLoop).whenComplete { _ in
                context.value.fireChannelRead(NIOAny(bytes))
                context.value.fireChannelReadComplete()
                context.value.pipeline.syncOperations.removeHandler(context: context.value, promise: nil)
            }
        }
    }

    private final class CountingHandler: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer

        private let record: Locked<Record>

        init(_ record: Locked<Record>) { self.record = record }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let count = unwrapInboundIn(data).readableBytes
            record.withLock { $0.bytes += count }
            context.fireChannelRead(data)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }

    private final class AnsweringHandler: ChannelInboundHandler, Sendable {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let record: Locked<Record>
        private let redirect: String?

        init(_ record: Locked<Record>, redirect: String?) {
            self.record = record
            self.redirect = redirect
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                // A stream's connection is its parent; the parent of a connection is the listening socket.
                let channels = [context.channel, context.channel.parent].compactMap { $0 }
                let peer = channels.filter(\.eventLoop.inEventLoop).lazy.compactMap {
                    try? $0.pipeline.syncOperations.nioSSL_peerCertificate()
                }.first
                record.withLock {
                    $0.requests.append(head.headers.first(name: "host") ?? "")
                    $0.isWithClientCertificate.append(peer != nil)
                }
            case .body: break
            case .end:
                var headers = HTTPHeaders([("content-length", "0")])
                if let redirect { headers.add(name: "location", value: redirect) }
                let status = redirect == nil ? HTTPResponseStatus.ok : .found
                let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
                context.write(wrapOutboundOut(.head(head)), promise: nil)
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
