import NIOCore
import NetworkLab
import ServerTrustNIO
import Testing

/// A cancelled request fails at once, and its connection is closed.
@Suite struct CancellationTests {
    private static func start(
        _ url: String,
        _ settings: TrustedHTTPSettings = TrustedHTTPSettings()
    ) throws -> Task<TrustedHTTPFailure, any Error> {
        let client = try HTTPWorld.client()
        return Task { try await HTTPWorld.failure(of: url, client, settings: settings) }
    }

    @Test func `a request that is cancelled before its start is not sent`() async throws {
        try await withServer(.ok()) { server in
            let url = server.url()
            let task = Task {
                while !Task.isCancelled { await Task.yield() }
                return try await HTTPWorld.failure(of: url)
            }
            task.cancel()
            let failure = try await task.value
            #expect(failure == .cancelled)
            #expect(server.requests.isEmpty)
        }
    }

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhi"], [false, true])
    func `cancellation ends a request to a silent server`(_ text: String, _ isSecure: Bool) async throws {
        let tls = isSecure ? try HTTPWorld.serverContext() : nil
        try await withServer(text.isEmpty ? .silence : Reply(text), tls: tls) { server in
            let task = try Self.start(server.url())
            await server.waitForRequests(1)
            task.cancel()
            #expect(try await task.value == .cancelled)
            await server.waitUntilClosed(1)
        }
    }

    @Test func `cancellation ends a TLS handshake`() async throws {
        let server = try ScriptedServer.greeting("")
        let task = try Self.start("https://127.0.0.1:\(server.port)/")
        await server.waitForConnections(1)
        task.cancel()
        #expect(try await task.value == .cancelled)
        await server.waitUntilClosed(1)
        server.stop()
    }

    @Test func `cancellation ends the request for a tunnel`() async throws {
        try await withServer(.silence) { proxy in
            let settings = TrustedHTTPSettings().with(
                \.proxy,
                HTTPProxy(host: "127.0.0.1", port: proxy.port)
            )
            let task = try Self.start("https://example.org/", settings)
            await proxy.waitForRequests(1)
            task.cancel()
            #expect(try await task.value == .cancelled)
            await proxy.waitUntilClosed(1)
        }
    }

    @Test func `cancellation ends a connection attempt`() async throws {
        let listener = try ScriptedServer.unreachable(.full)
        let task = try Self.start("http://127.0.0.1:\(listener.port)/")
        for _ in 0..<100 { await Task.yield() }
        task.cancel()
        #expect(try await task.value == .cancelled)
    }

    @Test func `cancellation ends many concurrent requests`() async throws {
        try await withServer(.silence) { server in
            let tasks = try (0..<50).map { _ in try Self.start(server.url()) }
            await server.waitForRequests(50)
            for task in tasks { task.cancel() }
            for task in tasks { #expect(try await task.value == .cancelled) }
            await server.waitUntilClosed(50)
        }
    }
}
