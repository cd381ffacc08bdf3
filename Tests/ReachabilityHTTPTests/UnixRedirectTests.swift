import AsyncHTTPClient
import Foundation
import NIOCore
import NIOPosix
import Testing

@testable import ReachabilityHTTP
@testable import ReachabilityRetry

/// Redirects between places of one Unix domain socket, whose URLs only the client knows: they stay the client's.
@Suite(.timeLimit(.minutes(3))) struct UnixRedirectTests {
    /// Answers `/` with a redirect, and any other path with 200.
    private final class Server: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let isFirst = String(buffer: unwrapInboundIn(data)).hasPrefix("GET / ")
            let head = isFirst ? "302 Found\r\nLocation: /there" : "200 OK"
            let body = isFirst ? "" : "there"
            let answer = "HTTP/1.1 \(head)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
        }
    }

    @Test(arguments: [true, false])
    func `the client follows them, if it follows any`(follows: Bool) async throws {
        let path = "/tmp/redirect-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Server()) }
            }
            .bind(unixDomainSocketPath: path).get()
        var configuration = HTTPClient.Configuration()
        if !follows { configuration.redirectConfiguration = .disallow }
        let client = HTTPClient(eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)
        let url = try #require(URL(httpURLWithSocketPath: path, uri: "/")).absoluteString
        let lab = try HTTPLab()
        let request = HTTPClientRequest(url: url)
        let outcome = try await client.execute(request, retry: lab.policy(), options: lab.options([]))
        #expect(outcome.value.status == (follows ? .ok : .found))
        let body = try await outcome.value.body.collect(upTo: 1024)
        #expect(String(buffer: body) == (follows ? "there" : ""))
        try await client.shutdown()
        try await listener.close()
        try? FileManager.default.removeItem(atPath: path)
    }
}
