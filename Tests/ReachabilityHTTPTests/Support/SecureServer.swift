import LinuxSupport
import NIOCore
import NIOHPACK
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL
import WebLab

/// A server with HTTP/2 over TLS that performs the next deed for each stream. After the last deed it answers with
/// 200. It is not a `ScriptedServer`, because SwiftNIO's HTTP/2 library writes its frames.
final class SecureServer: Sendable {
    enum Deed: Hashable, Sendable {
        /// RST_STREAM.
        case reset(UInt32)
        /// Sends a GOAWAY that excludes the stream.
        case goAway
        /// Closes the connection without a frame.
        case close
        /// Closes the connection before the handshake.
        case noHandshake
        case answer(UInt)
    }

    private struct State {
        var deeds: [Deed]
        var streams = 0
    }

    private let state: Locked<State>
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let channel: any Channel

    init(_ deeds: [Deed]) async throws {
        let state = Locked(State(deeds: deeds))
        self.state = state
        let context = try WebIdentity.selfSigned(for: "127.0.0.1").context(protocols: ["h2"])
        channel = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                let isCut = state.withLock { state in
                    guard state.deeds.first == .noHandshake else { return false }
                    state.deeds.removeFirst()
                    return true
                }
                if isCut {
                    return channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(EndingHandler())
                    }
                }
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                }.flatMap {
                    channel.configureHTTP2Pipeline(mode: .server) { stream in
                        stream.eventLoop.makeCompletedFuture {
                            let handler = DeedHandler {
                                state.withLock { state in
                                    state.streams += 1
                                    return state.deeds.isEmpty ? .answer(200) : state.deeds.removeFirst()
                                }
                            }
                            try stream.pipeline.syncOperations.addHandler(handler)
                        }
                    }.map { _ in }
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    var url: String { "https://127.0.0.1:\(channel.localAddress?.port ?? 0)/" }

    /// The number of streams.
    var streams: Int { state.withLock { $0.streams } }

    func close() async throws {
        try await channel.close()
        try await group.shutdownGracefully()
    }
}

/// A handler that sends nothing and closes the sending direction. Closing both directions with unread data would
/// reset the connection.
private final class EndingHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func channelActive(context: ChannelHandlerContext) {
        context.close(mode: .output, promise: nil)
    }
}

/// The handler of one stream.
private final class DeedHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    private let next: () -> SecureServer.Deed

    init(next: @escaping () -> SecureServer.Deed) {
        self.next = next
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .headers = unwrapInboundIn(data) else { return }
        switch next() {
        case .reset(let code):
            let frame = HTTP2Frame.FramePayload.rstStream(HTTP2ErrorCode(networkCode: Int(code)))
            context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
        case .goAway:
            let payload = HTTP2Frame.FramePayload.goAway(lastStreamID: 0, errorCode: .noError, opaqueData: nil)
            let connection = context.channel.parent
            connection?.writeAndFlush(HTTP2Frame(streamID: .rootStream, payload: payload), promise: nil)
        case .close, .noHandshake:
            context.channel.parent?.close(promise: nil)
        case .answer(let status):
            let headers = HPACKHeaders([(":status", String(status))])
            context.writeAndFlush(wrapOutboundOut(.headers(.init(headers: headers, endStream: true))), promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {}
}
