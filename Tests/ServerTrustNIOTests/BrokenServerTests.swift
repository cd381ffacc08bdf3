import NIOCore
import NIOPosix
import NIOSSL
import ServerTrust
import ServerTrustNIO
import Testing
import TrustForge

/// Servers that do not speak TLS as they should.
@Suite struct BrokenServerTests {
    /// What a server does when a client has connected.
    enum Deed: CaseIterable {
        case close
        case closeAfterHello
        case garbage
        case plainText
        case halfRecord
        case alert
    }

    @Test(arguments: Deed.allCases)
    func endsWithAnError(_ deed: Deed) async throws {
        let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(BrokenHandler(deed))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let factory = try TrustClient.factory(TrustCase("") { $0.evaluator = DisabledTrustEvaluator() })
        let outcome = try await TrustClient.connect(
            factory,
            host: World.host,
            port: server.localAddress?.port ?? 0
        )
        #expect(outcome.otherError != nil, "\(outcome.handshake)")
        #expect(outcome.greeting == nil)
        #expect(throws: (any Error).self) { try outcome.written.get() }
        try await server.close()
    }

    private final class BrokenHandler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let deed: Deed

        init(_ deed: Deed) {
            self.deed = deed
        }

        func channelActive(context: ChannelHandlerContext) {
            if deed == .close { context.close(promise: nil) }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let answer: [UInt8]? =
                switch deed {
                case .close, .closeAfterHello: nil
                case .garbage: (0..<500).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ 37) }
                case .plainText: Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)
                // The beginning of a ServerHello of 512 bytes.
                case .halfRecord: [0x16, 0x03, 0x03, 0x02, 0x00, 0x02, 0x00, 0x01, 0xfc]
                // handshake_failure (RFC 8446, section 6).
                case .alert: [0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x28]
                }
            if let answer { context.write(wrapOutboundOut(ByteBuffer(bytes: answer)), promise: nil) }
            context.flush()
            context.close(promise: nil)
        }
    }
}
