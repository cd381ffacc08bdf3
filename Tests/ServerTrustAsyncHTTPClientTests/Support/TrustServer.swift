import LinuxSupport
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL
import TrustForge
import WebLab

/// A server with HTTP/1.1 and HTTP/2 on loopback that records requests and connections. It is not a `ScriptedServer`,
/// because that has no HTTP/2.
final class TrustServer: Sendable {
    struct Record: Sendable {
        /// The `Host` of each request.
        var requests: [String] = []
        /// The number of decrypted bytes.
        var bytes = 0
        /// The number of TCP connections, including the connections that fetch the chain.
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
    ///   - chain: The certificates of the server. If nil, the server does not use TLS.
    ///   - clientRoot: The authority of the required client certificate.
    ///   - redirect: The target to which each request is redirected.
    ///   - isForOne: Whether the server stops listening before its first handshake.
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

    /// Sends GOAWAY on each HTTP/2 connection without closing it.
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

    /// Stops listening, and waits until each connection has ended, so that the record is complete.
    func close() async throws {
        if channel.isActive { try await channel.close() }
        for child in children.withLock({ $0 }) { try await child.closeFuture.get() }
    }

    /// Closes all connections, and waits until they have ended.
    func cut() async {
        for child in children.withLock({ $0 }) {
            child.close(mode: .all, promise: nil)
            try? await child.closeFuture.get()
        }
    }

    /// A handler that delays data until the server has stopped listening.
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
                // The parent of a stream is its connection. The parent of a connection is the listening socket.
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
