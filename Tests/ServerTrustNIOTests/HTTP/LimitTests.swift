import NIOHTTP1
import ServerTrustNIO
import Testing

/// The limits of a response. One byte more is an error.
@Suite struct LimitTests {
    private static let bodyLimit = 70_000

    private static func framed(_ count: Int, _ framing: String) -> Reply {
        let body = String(repeating: "x", count: count)
        switch framing {
        case "length": return Reply("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n\(body)")
        case "chunks":
            let half = count / 2
            let chunks = [half, count - half].map {
                "\(String($0, radix: 16))\r\n\(String(repeating: "x", count: $0))\r\n"
            }
            return Reply("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks.joined())0\r\n\r\n")
        default: return Reply("HTTP/1.1 200 OK\r\n\r\n\(body)", then: .close)
        }
    }

    @Test(arguments: ["length", "chunks", "end"], [-1, 0, 1])
    func `a body that exceeds the maximum size is refused`(_ framing: String, _ more: Int) async throws {
        let settings = TrustedHTTPSettings().with(\.maximumBodyBytes, Self.bodyLimit)
        try await withServer(Self.framed(Self.bodyLimit + more, framing)) { server in
            if more <= 0 {
                let request = try TrustedHTTPRequest(server.url())
                let response = try await HTTPWorld.client().execute(request, settings: settings)
                #expect(response.body.count == Self.bodyLimit + more)
            } else {
                let failure = try await HTTPWorld.failure(of: server.url(), settings: settings)
                #expect(failure == .bodyTooLarge(limit: Self.bodyLimit))
            }
            await server.waitUntilClosed(1)
        }
    }

    @Test func `with a maximum of 0 only an empty body is accepted`() async throws {
        let settings = TrustedHTTPSettings().with(\.maximumBodyBytes, 0)
        try await withServer(.ok("")) { server in
            let response = try await HTTPWorld.client().execute(TrustedHTTPRequest(server.url()), settings: settings)
            #expect(response.body.isEmpty)
        }
        try await withServer(.ok("a")) { server in
            let failure = try await HTTPWorld.failure(of: server.url(), settings: settings)
            #expect(failure == .bodyTooLarge(limit: 0))
        }
    }

    @Test func `a length above the maximum is refused before the body`() async throws {
        try await withServer(Reply("HTTP/1.1 200 OK\r\nContent-Length: 1048577\r\n\r\n")) { server in
            let failure = try await HTTPWorld.failure(of: server.url())
            #expect(failure == .bodyTooLarge(limit: 1 << 20))
            await server.waitUntilClosed(1)
        }
    }

    @Test(arguments: [
        ["HTTP/1.1 200 OK\r\n\r\n", String(repeating: "x", count: 4096)],
        ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n"],
    ])
    func `an endless body is refused`(_ pieces: [String]) async throws {
        try await withServer(Reply(pieces: pieces.map { Array($0.utf8) }, then: .endless)) { server in
            let settings = TrustedHTTPSettings().with(\.maximumBodyBytes, Self.bodyLimit)
            let failure = try await HTTPWorld.failure(of: server.url(), settings: settings)
            #expect(failure == .bodyTooLarge(limit: Self.bodyLimit))
            await server.waitUntilClosed(1)
        }
    }

    @Test(arguments: [0, 1])
    func `header fields of the maximum size are accepted, and longer ones are refused`(_ more: Int) async throws {
        let limit = 4000
        let settings = TrustedHTTPSettings().with(\.maximumHeaderBytes, limit)
        // 15 bytes for "Content-Length" and "0", and 1 byte for "X".
        let value = String(repeating: "y", count: limit - 15 - 1 + more)
        try await withServer(Reply("HTTP/1.1 200 OK\r\nX: \(value)\r\nContent-Length: 0\r\n\r\n")) { server in
            if more == 0 {
                let request = try TrustedHTTPRequest(server.url())
                let response = try await HTTPWorld.client().execute(request, settings: settings)
                #expect(response.headers.first(name: "X") == value)
            } else {
                let failure = try await HTTPWorld.failure(of: server.url(), settings: settings)
                #expect(failure == .headersTooLarge(limit: limit))
            }
            await server.waitUntilClosed(1)
        }
    }

    @Test(arguments: [
        ["HTTP/1.1 200 OK\r\nX: ", "yyyyyyyy"], ["HTTP/1.1 200 OK\r\n", "yyyyyyyy"],
        ["HTTP/1.1 200 OK\r\n", "X: y\r\n"],
        ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "X: y\r\n"],
        ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: ", "yyyyyyyyyyyyyyyy"],
    ])
    func `endless header fields or trailers are refused`(_ pieces: [String]) async throws {
        try await withServer(Reply(pieces: pieces.map { Array($0.utf8) }, then: .endless)) { server in
            let failure = try await HTTPWorld.failure(of: server.url())
            #expect(failure == .headersTooLarge(limit: 64 << 10))
            await server.waitUntilClosed(1)
        }
    }

    @Test(arguments: [256, 257])
    func `256 header fields are accepted, and more are refused`(_ count: Int) async throws {
        let fields = (1..<count).map { "X-\($0): y\r\n" }.joined()
        try await withServer(Reply("HTTP/1.1 200 OK\r\n\(fields)Content-Length: 0\r\n\r\n")) { server in
            if count == 256 {
                let response = try await HTTPWorld.client().execute(TrustedHTTPRequest(server.url()))
                #expect(response.headers.count == 256)
            } else {
                #expect(try await HTTPWorld.failure(of: server.url()) == .headersTooLarge(limit: 64 << 10))
            }
        }
    }
}
