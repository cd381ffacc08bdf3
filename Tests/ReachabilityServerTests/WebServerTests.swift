import Foundation
import LinuxSupport
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOPosix
import NIOSSL
import NetworkLab
import Testing
import TrustForge

@testable import ReachabilityServer

/// Connections of correct and incorrect clients.
@Suite struct WebServerTests {
    /// A server on a Unix socket that answers with the path of the request.
    private final class World: Sendable {
        let directory = "/tmp/server-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        let server: WebServer
        var path: String { directory + "/s" }

        /// The TLS identity of the server.
        static let certificate = TrustForge.World.leaf

        init(_ limits: WebLimits = .patient, tls: @escaping @Sendable () -> NIOSSLContext? = { nil }) async throws {
            mkdir(directory, 0o700)
            server = WebServer(limits: limits, tls: tls) { request, done in
                done(WebAnswer(type: "text/plain", Array(request.path.joined(separator: "/").utf8)))
            }
            try await server.listen(at: path, mode: 0o600)
        }

        /// Sends a text and returns all bytes until the server closes the connection.
        func exchange(_ text: String) async throws -> String {
            let path = path
            return try await LabThread.detached {
                let bytes = try LocalSocket.exchange(
                    Array(text.utf8),
                    with: path,
                    limit: 1 << 20,
                    patience: .patience
                )
                return String(decoding: bytes, as: UTF8.self)
            }
        }

        func stop() async {
            await server.stop()
            try? FileManager.default.removeItem(atPath: directory)
        }
    }

    private static let close = "Host: localhost\r\nConnection: close\r\n\r\n"

    @Test(arguments: [
        ("gzip, deflate, br", true), ("br;q=1.0, GZIP;q=0.8", true), ("*", true), ("*;q=0, gzip", true),
        ("", false), ("br", false), ("gzip;q=0", false), ("gzip; q=0.000, *", false), ("*;q=0", false),
        ("gzip;q=x", false),
    ])
    func `long answers are compressed for clients that accept it`(accepted: String, isCompressed: Bool) throws {
        let fields = HTTPHeaders([("Accept-Encoding", accepted)])
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: fields)
        let request = try WebRequest(head, body: [], peer: .loopback)
        let body = Array(String(repeating: "0123456789", count: 1000).utf8)
        let answer = WebAnswer(type: "text/plain", body).compressed(for: request)
        #expect(answer.headers.contains { $0 == ("Vary", "Accept-Encoding") })
        #expect(answer.headers.contains { $0 == ("Content-Encoding", "gzip") } == isCompressed)
        #expect(isCompressed ? answer.body.count < 100 && answer.body.starts(with: [0x1f, 0x8b]) : answer.body == body)
        let short = WebAnswer(type: "text/plain", Array(body.prefix(100))).compressed(for: request)
        #expect(short.body.count == 100 && short.headers.count == 1)
        // A compressed answer is not compressed again.
        #expect(answer.compressed(for: request).body == answer.body)
    }

    @Test func `a request is abandoned when its client disconnects`() async throws {
        let world = try await World()
        let running = Locked<(request: WebRequest, done: @Sendable (WebAnswer) -> Void)?>(nil)
        let server = WebServer(limits: .patient, tls: { nil }) { request, done in
            running.withLock { $0 = (request, done) }
        }
        let path = world.directory + "/t"
        try await server.listen(at: path, mode: 0o600)
        try await LabThread.detached {
            let file = try LocalSocket.connect(to: path)
            let head = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n"
            _ = Glibc.write(file.number, head, head.utf8.count)
            try #require(Deadline(after: .patience).poll(every: .milliseconds(1)) { running.withLock { $0 != nil } })
            #expect(running.withLock { $0?.request.isAbandoned() } == false)
        }
        try await waitUntil { running.withLock { $0?.request.isAbandoned() } == true }
        running.withLock { $0?.done(WebAnswer()) }
        await server.stop()
        await world.stop()
    }

    @Test func `requests on one connection are answered in order`() async throws {
        let world = try await World()
        let text = try await world.exchange(
            "GET /a HTTP/1.1\r\nHost: x\r\n\r\nHEAD /b HTTP/1.1\r\nHost: x\r\n\r\nGET /c HTTP/1.1\r\n\(Self.close)"
        )
        #expect(text.ranges(of: "HTTP/1.1 200 OK").count == 3)
        #expect(text.contains("\r\n\r\na"))
        #expect(!text.contains("\r\n\r\nb"))
        #expect(text.hasSuffix("\r\n\r\nc"))
        await world.stop()
    }

    @Test func `a connection without a complete request times out`() async throws {
        var limits = WebLimits.patient
        limits.idleTime = .milliseconds(100)
        let patient = try await World(limits)
        #expect(try await patient.exchange("GET /a HTTP/1.1\r\n\r\n").hasSuffix("a"))
        await patient.stop()
        limits.requestTime = .milliseconds(100)
        let world = try await World(limits)
        for text in ["", "GET", "GET / HTTP/1.1\r\nHost: x\r\n", "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nhalf"] {
            // Bytes that are sent after the end cause a reset.
            #expect((try? await world.exchange(text)) ?? "" == "")
        }
        #expect(world.server.statistics.expired == 4)
        await world.stop()
    }

    @Test func `the head of a second request has the same timeout as the first`() async throws {
        var limits = WebLimits.patient
        limits.requestTime = .seconds(2)
        let world = try await World(limits)
        let whole = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n"
        // A part of the second head is sent with the first request.
        #expect(try await world.exchange(whole + "GET /b HT").hasSuffix("\r\n\r\na"))
        // A part of the second head is sent after the first answer.
        let path = world.path
        let text = try await LabThread.detached { () -> String in
            let file = try LocalSocket.connect(to: path)
            var (received, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 4096))
            _ = Glibc.write(file.number, whole, whole.utf8.count)
            received += buffer[..<max(0, Glibc.read(file.number, &buffer, buffer.count))]
            _ = Glibc.write(file.number, "GET /b", 6)
            while true {
                let count = Glibc.read(file.number, &buffer, buffer.count)
                guard count > 0 else { return String(decoding: received, as: UTF8.self) }
                received += buffer[..<count]
            }
        }
        #expect(text.hasSuffix("\r\n\r\na"))
        #expect(world.server.statistics.expired == 2)
        await world.stop()
    }

    @Test func `requests above the size limits are rejected`() async throws {
        let world = try await World()
        let long = String(repeating: "x", count: 20_000)
        #expect(try await world.exchange("GET / HTTP/1.1\r\nX: \(long)\r\n\r\n").hasPrefix("HTTP/1.1 400"))
        let many = (0..<100).map { "X\($0): y\r\n" }.joined()
        #expect(try await world.exchange("GET / HTTP/1.1\r\n\(many)\r\n").hasPrefix("HTTP/1.1 400"))
        let body = "POST / HTTP/1.1\r\nContent-Length: 65537\r\n\r\n" + String(repeating: "x", count: 65_537)
        #expect(try await world.exchange(body).hasPrefix("HTTP/1.1 413"))
        await world.stop()
    }

    @Test(arguments: [
        "hello\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET nowhere HTTP/1.1\r\n\r\n", "GET /%zz HTTP/1.1\r\n\r\n",
        "\u{16}\u{3}\u{1}\r\n\r\n", "GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    ])
    func `invalid requests are rejected or disconnected`(text: String) async throws {
        let world = try await World()
        let answer = try await world.exchange(text)
        #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4") || answer.hasPrefix("HTTP/1.1 5"), "\(answer)")
        #expect(try await world.exchange("GET /a HTTP/1.1\r\n\(Self.close)").hasSuffix("a"))
        await world.stop()
    }

    @Test func `connections above the limit are answered with 503`() async throws {
        var limits = WebLimits.patient
        limits.connections = 4
        let world = try await World(limits)
        let path = world.path
        let held = try await LabThread.detached {
            try (0..<4).map { _ in try LocalSocket.connect(to: path).release() }
        }
        #expect(try await eventually { world.server.statistics.connections == 4 })
        #expect(try await world.exchange("").hasPrefix("HTTP/1.1 503"))
        for number in held { Glibc.close(number) }
        #expect(try await eventually { world.server.statistics.connections == 0 })
        #expect(try await world.exchange("GET /a HTTP/1.1\r\n\(Self.close)").hasSuffix("a"))
        #expect(world.server.statistics.refused == 1)
        await world.stop()
    }

    @Test func `a served socket is not replaced, and a stale one is`() async throws {
        let world = try await World()
        let second = WebServer { _, done in done(WebAnswer()) }
        await #expect(throws: ListenError(.taken, "cannot listen at \(world.path): another service listens there")) {
            try await second.listen(at: world.path, mode: 0o600)
        }
        await second.stop()
        #expect(try await world.exchange("GET /a HTTP/1.1\r\n\(Self.close)").hasSuffix("a"))
        await world.server.stop()
        #expect(try LocalSocket.state(of: world.path) == .nothing)
        // A killed process leaves a stale socket.
        _ = try LabProcess("python3", ["-c", "import socket,sys; socket.socket(1).bind(sys.argv[1])", world.path])
            .wait()
        #expect(try LocalSocket.state(of: world.path) == .stale)
        let third = WebServer { _, done in done(WebAnswer(type: "text/plain", Array("third".utf8))) }
        try await third.listen(at: world.path, mode: 0o600)
        #expect(try await world.exchange("GET /a HTTP/1.1\r\n\(Self.close)").hasSuffix("third"))
        await third.stop()
        _ = try LabProcess("touch", [world.path]).wait()
        let fourth = WebServer { _, done in done(WebAnswer()) }
        await #expect(throws: ListenError.self) { try await fourth.listen(at: world.path, mode: 0o600) }
        await fourth.stop()
        await world.stop()
    }

    @Test func `incomplete handshakes time out and leave connections for local clients`() async throws {
        var limits = WebLimits.patient
        limits.requestTime = .milliseconds(100)
        limits.connections = 8
        let forged = World.certificate
        let context = try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: [.certificate(try NIOSSLCertificate(bytes: forged.der, format: .der))],
                privateKey: .privateKey(
                    try NIOSSLPrivateKey(bytes: Array(forged.key.key.serializeAsPEM().pemString.utf8), format: .pem)
                )
            )
        )
        let world = try await World(limits, tls: { context })
        let address = try await world.server.listen(at: ListenAddress("127.0.0.1:0", isSecured: true))
        let port = try #require(Int(address.split(separator: ":").last ?? ""))
        let group = MultiThreadedEventLoopGroup.singleton
        func connect(_ bytes: [UInt8]) async throws -> any Channel {
            let channel = try await ClientBootstrap(group: group).connect(host: "127.0.0.1", port: port).get()
            try? await channel.writeAndFlush(ByteBuffer(bytes: bytes))
            return channel
        }
        // The beginning of a ClientHello without the rest.
        for bytes in [[], [22], [22, 3, 1, 2, 0, 1, 0]] as [[UInt8]] {
            try await connect(bytes).closeFuture.get()
        }
        #expect(world.server.statistics.expired == 3)
        limits.requestTime = .seconds(600)
        let roomy = try await World(limits, tls: { context })
        let other = try await roomy.server.listen(at: ListenAddress("127.0.0.1:0", isSecured: true))
        let otherPort = try #require(Int(other.split(separator: ":").last ?? ""))
        var held: [any Channel] = []
        for _ in 0..<8 {
            held.append(try await ClientBootstrap(group: group).connect(host: "127.0.0.1", port: otherPort).get())
        }
        try await held[7].closeFuture.get()
        #expect(try await roomy.exchange("GET /a HTTP/1.1\r\n\(Self.close)").hasSuffix("a"))
        #expect(roomy.server.statistics.refused == 1)
        for channel in held.dropLast() { try await channel.close() }
        await roomy.stop()
        await world.stop()
    }

    @Test func `a used address and an address other than loopback are errors`() async throws {
        let one = WebServer { _, done in done(WebAnswer()) }
        let address = try await one.listen(at: ListenAddress("127.0.0.1:0"))
        let two = WebServer { _, done in done(WebAnswer()) }
        await #expect(throws: ListenError(.taken, "cannot listen at \(address): another program listens there")) {
            _ = try await two.listen(at: ListenAddress(address))
        }
        await two.stop()
        await one.stop()
        for text in ["0.0.0.0:80", "192.0.2.1:80", "[::]:80", "127.0.0.1", "x:1", "::1:80", "127.0.0.1:99999", ""] {
            #expect(throws: ListenError.self) { try ListenAddress(text) }
        }
    }
}

/// Stopping a server.
@Suite struct WebServerEndTests {
    @Test func `stopping the server waits for running answers`() async throws {
        let directory = "/tmp/server-end-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        mkdir(directory, 0o700)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let waiting = Locked<(@Sendable (WebAnswer) -> Void)?>(nil)
        let server = WebServer { _, done in waiting.withLock { $0 = done } }
        try await server.listen(at: directory + "/s", mode: 0o600)
        async let answer = LabThread.detached {
            let request = Array("GET / HTTP/1.1\r\n\r\n".utf8)
            return try LocalSocket.exchange(request, with: directory + "/s", limit: 1 << 20, patience: .patience)
        }
        #expect(try await eventually { waiting.withLock { $0 != nil } })
        let hasStopped = Locked(false)
        async let stopped: Void = {
            await server.stop()
            hasStopped.withLock { $0 = true }
        }()
        #expect(try await answer.isEmpty)
        #expect(hasStopped.withLock { !$0 })
        waiting.withLock { $0 }?(WebAnswer())
        await stopped
        #expect(hasStopped.withLock { $0 })
    }

    /// Returns a connection with an answer of four parts that the client has not read.
    private func connection(_ limits: WebLimits) throws -> (EmbeddedChannel, SlowReader, WebServer.Shared) {
        let shared = WebServer.Shared(limits: limits) { _, done in
            done(WebAnswer(type: "text/plain", [UInt8](repeating: 1, count: 4 * 65536)))
        }
        let (channel, reader) = (EmbeddedChannel(), SlowReader())
        let handler = RequestHandler(.loopback, .unknown, shared, FirstBytesHandler())
        try channel.pipeline.syncOperations.addHandlers([reader, handler])
        try channel.connect(to: SocketAddress(unixDomainSocketPath: "/x")).wait()
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: ["Host": "x"])
        channel.pipeline.syncOperations.fireChannelRead(NIOAny(HTTPServerRequestPart.head(head)))
        channel.pipeline.syncOperations.fireChannelRead(NIOAny(HTTPServerRequestPart.end(nil)))
        channel.embeddedEventLoop.run()
        return (channel, reader, shared)
    }

    @Test func `the timeout of an answer counts from the last part that the client has read`() throws {
        var limits = WebLimits.patient
        limits.answerTime = .seconds(30)
        let (channel, reader, shared) = try connection(limits)
        for _ in 1...3 {
            channel.embeddedEventLoop.advanceTime(by: .seconds(29))
            #expect(channel.isActive)
            reader.read()
        }
        channel.embeddedEventLoop.advanceTime(by: .seconds(31))
        #expect(!channel.isActive && shared.statistics.withLock(\.expired) == 1)
    }

    @Test func `the timeout of a request does not include the time that its answer takes`() throws {
        var limits = WebLimits.patient
        limits.requestTime = .seconds(10)
        let done = Locked<(@Sendable (WebAnswer) -> Void)?>(nil)
        let shared = WebServer.Shared(limits: limits) { _, answer in done.withLock { $0 = answer } }
        let channel = EmbeddedChannel(handler: RequestHandler(.loopback, .unknown, shared, FirstBytesHandler()))
        try channel.connect(to: SocketAddress(unixDomainSocketPath: "/x")).wait()
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: ["Host": "x"])
        channel.pipeline.syncOperations.fireChannelRead(NIOAny(HTTPServerRequestPart.head(head)))
        channel.pipeline.syncOperations.fireChannelRead(NIOAny(HTTPServerRequestPart.end(nil)))
        channel.embeddedEventLoop.advanceTime(by: .seconds(60))
        #expect(channel.isActive)
        done.withLock { $0 }?(WebAnswer())
        channel.embeddedEventLoop.run()
        guard case .head(let answer)? = try channel.readOutbound(as: HTTPServerResponsePart.self) else {
            Issue.record("there is no answer")
            return
        }
        #expect(answer.status == .ok && shared.statistics.withLock(\.expired) == 0)
    }

    /// The access rules of a server change while a client reads an answer.
    @Test func `a connection that has to end does so after the answer`() throws {
        let (channel, reader, _) = try connection(.patient)
        channel.pipeline.fireUserInboundEventTriggered(ServerEnding())
        // Three parts, and the end with the last part.
        for _ in 1...4 {
            #expect(channel.isActive)
            reader.read()
            channel.embeddedEventLoop.run()
        }
        #expect(!channel.isActive)
    }
}

/// A client that reads parts of an answer on demand.
private final class SlowReader: ChannelOutboundHandler {
    typealias OutboundIn = HTTPServerResponsePart

    private var unread: [EventLoopPromise<Void>] = []

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if let promise { unread.append(promise) }
    }

    func read() { if !unread.isEmpty { unread.removeFirst().succeed() } }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        for promise in unread { promise.fail(ChannelError.ioOnClosedChannel) }
        unread = []
        context.close(mode: mode, promise: promise)
    }
}
