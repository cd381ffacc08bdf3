import LinuxSupport
import NIOCore
import NIOEmbedded
package import NIOSSL
import NIOTLS
package import NetworkLab

/// The TLS layer of one connection of a ``ScriptedServer``: SwiftNIO's TLS handler with a channel in memory, because the threads of that
/// server block and have no event loop.
package final class TLSCoder: StreamCoder {
    private let channel = EmbeddedChannel()
    private let watcher = HandshakeWatcher()
    private let name = Locked<String?>(nil)

    package init(_ context: NIOSSLContext) throws {
        let name = name
        let loop = channel.embeddedEventLoop
        let names = SNIHandler { result in
            name.withLock { if case .hostname(let text) = result { $0 = text } }
            return loop.makeSucceededVoidFuture()
        }
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(ByteToMessageHandler(names))
        try pipeline.addHandler(NIOSSLServerHandler(context: context))
        try pipeline.addHandler(watcher)
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
    }

    /// The layer of each connection; nil for no TLS.
    package static func layer(_ context: NIOSSLContext?) -> ScriptedServer.Coder? {
        guard let context else { return nil }
        return { try TLSCoder(context) }
    }

    package var isReady: Bool { watcher.isReady }
    package var isClosed: Bool { !channel.isActive }
    package var serverName: String? { name.withLock { $0 } }

    package func decode(_ bytes: [UInt8]) throws -> [UInt8] {
        try channel.writeInbound(ByteBuffer(bytes: bytes))
        channel.embeddedEventLoop.run()
        var plain: [UInt8] = []
        while let part = try channel.readInbound(as: ByteBuffer.self) { plain += part.readableBytesView }
        return plain
    }

    package func encode(_ bytes: [UInt8]) throws {
        try channel.writeOutbound(ByteBuffer(bytes: bytes))
    }

    package func end() {
        channel.close(promise: nil)
        channel.embeddedEventLoop.run()
    }

    package func takeOutput() -> [UInt8] {
        var output: [UInt8] = []
        while let part = try? channel.readOutbound(as: ByteBuffer.self) { output += part.readableBytesView }
        return output
    }

    package func abandon() {
        // Closes the channel below the TLS handler, which would wait for the peer's closure alert.
        try? channel.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self).close(promise: nil)
        channel.embeddedEventLoop.run()
    }

    private final class HandshakeWatcher: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        var isReady = false

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case .handshakeCompleted? = event as? TLSUserEvent { isReady = true }
            context.fireUserInboundEventTriggered(event)
        }
    }
}
