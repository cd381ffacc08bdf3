import NIOHTTP1
import ServerTrustNIO
import Testing

/// The bytes of a request.
@Suite struct RequestTests {
    @Test func `a plain request has Host and Connection`() async throws {
        try await withServer(.ok()) { server in
            let response = try await HTTPWorld.client().execute(TrustedHTTPRequest(server.url("/a?b#c")))
            #expect(response.status == .ok)
            #expect(response.text == "hello")
            #expect(response.handshake == nil)
            let expected = "GET /a?b HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nConnection: close\r\n\r\n"
            #expect(server.requests == [expected])
            await server.waitUntilClosed(1)
        }
    }

    @Test(arguments: [HTTPMethod.POST, .PUT, .PATCH, .DELETE, .GET, .RAW(value: "QUERY")])
    func `the client sets the length and ignores the caller's framing fields`(_ method: HTTPMethod) async throws {
        try await withServer(.ok()) { server in
            var request = try TrustedHTTPRequest(server.url(), method: method, body: Array("abc".utf8))
            // The client sets the framing fields itself.
            request.headers = [
                "Host": "other.example", "content-length": "7", "Transfer-Encoding": "chunked",
                "Connection": "keep-alive", "X-A": "1", "x-a": "2",
            ]
            _ = try await HTTPWorld.client().execute(request)
            #expect(
                server.requests == [
                    "\(method.rawValue) / HTTP/1.1\r\nHost: other.example\r\nX-A: 1\r\nx-a: 2\r\nConnection: close\r\n"
                        + "Content-Length: 3\r\n\r\nabc"
                ]
            )
        }
    }

    @Test(arguments: [HTTPMethod.POST, .PUT, .PATCH])
    func `a POST, PUT or PATCH without a body has a length of 0`(_ method: HTTPMethod) async throws {
        try await withServer(.ok()) { server in
            _ = try await HTTPWorld.client().execute(TrustedHTTPRequest(server.url(), method: method))
            #expect(server.requests.first?.hasSuffix("Content-Length: 0\r\n\r\n") == true)
        }
    }

    @Test func `a large body is sent whole`() async throws {
        try await withServer(.ok()) { server in
            let body = [UInt8](repeating: 0x61, count: 3 << 20)
            _ = try await HTTPWorld.client().execute(TrustedHTTPRequest(server.url(), method: .POST, body: body))
            #expect(server.requests.first?.utf8.suffix(body.count).elementsEqual(body) == true)
        }
    }

    @Test func `each request has its own connection`() async throws {
        try await withServer(.ok()) { server in
            let client = try HTTPWorld.client()
            for _ in 0..<3 { _ = try await client.execute(TrustedHTTPRequest(server.url())) }
            await server.waitUntilClosed(3)
            #expect(server.connections == 3)
        }
    }

    @Test func `concurrent requests are answered`() async throws {
        try await withServer(.ok()) { server in
            let client = try HTTPWorld.client()
            let request = try TrustedHTTPRequest(server.url())
            let answered = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<100 { group.addTask { try await client.execute(request).text } }
                return try await group.reduce(0) { $0 + ($1 == "hello" ? 1 : 0) }
            }
            #expect(answered == 100)
            await server.waitUntilClosed(100)
        }
    }

    @Test(arguments: ["", "GET /", "GE\r\nT", "G(T", "CONNECT", "GÉT"])
    func `an invalid method is refused`(_ method: String) async throws {
        let request = try TrustedHTTPRequest("http://127.0.0.1:1/", method: HTTPMethod(rawValue: method))
        #expect(try await HTTPWorld.failure(of: request, HTTPWorld.client()) == .invalidMethod(method))
    }

    @Test(arguments: [
        ("X", "a\r\nY: b"), ("X", "a\nb"), ("X", "a\u{0}"), ("X\r\nY", "a"), ("X Y", "a"), ("", "a"), ("X:", "a"),
        ("Host", "a\r\n\r\nGET /"), ("X", "\u{7f}"),
    ])
    func `an invalid header field is refused`(_ name: String, _ value: String) async throws {
        let request = try TrustedHTTPRequest("http://127.0.0.1:1/", headers: [name: value])
        #expect(try await HTTPWorld.failure(of: request, HTTPWorld.client()) == .invalidHeader(name))
    }

    @Test func `a URL with another scheme is refused with a plain message`() {
        do {
            _ = try TrustedHTTPRequest("ftp://example.org/")
            Issue.record("an ftp URL was accepted")
        } catch {
            #expect(
                "\(error)"
                    == "\"ftp://example.org/\" is not an HTTP URL: it does not begin with http:// or https://"
            )
        }
    }
}
