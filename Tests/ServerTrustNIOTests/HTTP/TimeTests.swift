import NIOCore
import NIOEmbedded
import ServerTrust
import Testing

@testable import ServerTrustNIO

/// The time limit of a request. The tests set the time.
@Suite struct TimeTests {
    private static let limit = TrustedHTTPSettings().with(\.timeLimit, .seconds(3))

    private static func start(
        _ url: String,
        _ connector: TestingConnector,
        _ settings: TrustedHTTPSettings = limit
    ) throws -> Task<Result<TrustedHTTPResponse, TrustedHTTPFailure>, Never> {
        let tls = try HTTPWorld.client().tls
        let client = TrustedHTTPClient(tls: tls, settings: settings, connector: connector)
        let request = try TrustedHTTPRequest(url)
        return Task {
            do throws(TrustedHTTPFailure) {
                return .success(try await client.execute(request))
            } catch {
                return .failure(error)
            }
        }
    }

    /// Returns the connection with a number after the first write. Before the write, received data might be lost.
    private static func channel(
        _ connector: TestingConnector,
        _ number: Int = 0
    ) async throws -> NIOAsyncTestingChannel {
        let channel = await connector.channel(number)
        _ = try await channel.waitForOutboundWrite(as: ByteBuffer.self)
        return channel
    }

    private static func reason(
        _ task: Task<Result<TrustedHTTPResponse, TrustedHTTPFailure>, Never>
    ) async -> TrustedHTTPFailure? {
        guard case .failure(let error) = await task.value else { return nil }
        return error
    }

    @Test func `a connection attempt ends at the time limit`() async throws {
        let connector = TestingConnector(isReachable: false)
        let task = try Self.start("http://example.org/", connector)
        await connector.waitForAttempt()
        await connector.loop.advanceTime(by: .seconds(3))
        #expect(await Self.reason(task) == .timedOut(.connecting, limit: .seconds(3)))
        connector.failAttempts()
    }

    @Test(arguments: [
        ("http://example.org/", "", TrustedHTTPStage.head),
        ("http://example.org/", "HTTP/1.1 200", .head),
        ("http://example.org/", "HTTP/1.1 100 Continue\r\n\r\n", .head),
        ("http://example.org/", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhi", .body),
        ("http://example.org/", "HTTP/1.1 200 OK\r\n\r\nhi", .body),
        ("https://example.org/", "", .handshake),
    ])
    func `a request ends at the time limit in each stage`(
        _ url: String,
        _ received: String,
        _ stage: TrustedHTTPStage
    ) async throws {
        let connector = TestingConnector()
        let task = try Self.start(url, connector)
        let channel = try await Self.channel(connector)
        if !received.isEmpty { try await channel.writeInbound(ByteBuffer(string: received)) }
        await connector.loop.advanceTime(by: .milliseconds(2999))
        #expect(channel.isActive)
        await connector.loop.advanceTime(by: .milliseconds(1))
        #expect(await Self.reason(task) == .timedOut(stage, limit: .seconds(3)))
        await connector.loop.run()
        #expect(!channel.isActive)
    }

    @Test func `the request for a tunnel ends at the time limit`() async throws {
        let connector = TestingConnector()
        let settings = Self.limit.with(\.proxy, HTTPProxy(host: "proxy.example", port: 3128))
        let task = try Self.start("https://example.org/", connector, settings)
        let channel = await connector.channel()
        let sent = try await channel.waitForOutboundWrite(as: ByteBuffer.self)
        #expect(String(buffer: sent) == "CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n")
        await connector.loop.advanceTime(by: .seconds(3))
        #expect(await Self.reason(task) == .timedOut(.tunnel, limit: .seconds(3)))
    }

    @Test func `a response just before the time limit is accepted`() async throws {
        let connector = TestingConnector()
        let task = try Self.start("http://example.org/", connector)
        let channel = try await Self.channel(connector)
        await connector.loop.advanceTime(by: .milliseconds(2999))
        try await channel.writeInbound(ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"))
        #expect(try await task.value.get().text == "hi")
        // The timer was stopped.
        await connector.loop.advanceTime(by: .seconds(10))
        #expect(!channel.isActive)
    }

    @Test(arguments: [Duration.zero, .seconds(-1)])
    func `a time limit of 0 or less ends the request at once`(_ limit: Duration) async throws {
        let connector = TestingConnector(isReachable: false)
        let task = try Self.start("http://example.org/", connector, Self.limit.with(\.timeLimit, limit))
        await connector.waitForAttempt()
        await connector.loop.run()
        #expect(await Self.reason(task) == .timedOut(.connecting, limit: limit))
        connector.failAttempts()
    }

    @Test func `the largest time limit does not overflow`() async throws {
        let settings = TrustedHTTPSettings().with(\.timeLimit, .seconds(Int64.max)).with(
            \.connectTimeLimit,
            .seconds(Int64.max)
        )
        try await withServer(.ok()) { server in
            let request = try TrustedHTTPRequest(server.url())
            #expect(try await HTTPWorld.client().execute(request, settings: settings).text == "hello")
        }
    }
}
