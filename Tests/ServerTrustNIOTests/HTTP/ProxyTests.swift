import NIOCore
import NIOHTTP1
import NIOSSL
import NetworkLab
import ServerTrust
import ServerTrustNIO
import Testing

/// Requests through a proxy, and errors of proxies.
@Suite struct ProxyTests {
    private static func settings(_ proxy: ScriptedServer, authorization: String? = nil) -> TrustedHTTPSettings {
        let proxy = HTTPProxy(host: "127.0.0.1", port: proxy.port, authorization: authorization)
        return TrustedHTTPSettings().with(\.proxy, proxy)
    }

    /// Returns a proxy that creates a tunnel to any port of this machine.
    private static func openProxy() throws -> ScriptedServer {
        try ScriptedServer { request in
            let port = request.target.split(separator: ":").last.flatMap { Int($0) } ?? 0
            return Reply("HTTP/1.1 200 Connected\r\nX: y\r\n\r\n", then: .tunnel(port: port))
        }
    }

    @Test func `an HTTPS request is sent through a tunnel`() async throws {
        let tls = try HTTPWorld.serverContext()
        try await withServer(.ok(), tls: tls) { server in
            try await withServer(try Self.openProxy()) { proxy in
                let authorization = HTTPProxy.basic(user: "Aladdin", password: "open sesame")
                let settings = Self.settings(proxy, authorization: authorization)
                let request = try TrustedHTTPRequest(server.url("/a"))
                let response = try await HTTPWorld.client().execute(request, settings: settings)
                #expect(response.text == "hello")
                #expect(response.handshake?.host == "127.0.0.1")
                let place = "127.0.0.1:\(server.port)"
                #expect(
                    proxy.requests == [
                        "CONNECT \(place) HTTP/1.1\r\nHost: \(place)\r\n"
                            + "Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n\r\n"
                    ]
                )
                #expect(server.requests.first?.hasPrefix("GET /a HTTP/1.1\r\n") == true)
                #expect(server.requests.first?.contains("Proxy-Authorization") == false)
                await proxy.waitUntilClosed(1)
            }
        }
    }

    @Test func `the server behind a tunnel must be trusted`() async throws {
        let tls = try HTTPWorld.serverContext([HTTPWorld.leaf])
        try await withServer(.ok(), tls: tls) { server in
            try await withServer(try Self.openProxy()) { proxy in
                let failure = try await HTTPWorld.failure(of: server.url(), settings: Self.settings(proxy))
                #expect(failure.name == "untrusted: unknownIssuer", "\(failure)")
                #expect(server.requests.isEmpty)
                await proxy.waitUntilClosed(1)
            }
        }
    }

    @Test(arguments: [407, 403, 502, 301])
    func `a refused tunnel is reported with its status`(_ status: Int) async throws {
        let reply = Reply("HTTP/1.1 \(status) No\r\nContent-Length: 5\r\n\r\nsorry")
        try await withServer(reply) { proxy in
            let failure = try await HTTPWorld.failure(of: "https://example.org/", settings: Self.settings(proxy))
            #expect(failure.name == "proxyRefused" && "\(failure)".contains("\(status)"), "\(failure)")
            await proxy.waitUntilClosed(1)
        }
    }

    @Test func `an interim response of a proxy is skipped`() async throws {
        try await withServer(Reply("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 403 No\r\n\r\n")) { proxy in
            let failure = try await HTTPWorld.failure(of: "https://example.org/", settings: Self.settings(proxy))
            #expect(failure.name == "proxyRefused" && "\(failure)".contains("403"), "\(failure)")
        }
    }

    @Test(arguments: ["This is no proxy.\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/2.0 200 OK\r\n\r\n"])
    func `a malformed response of a proxy is an error`(_ text: String) async throws {
        try await withServer(Reply(text)) { proxy in
            let failure = try await HTTPWorld.failure(of: "https://example.org/", settings: Self.settings(proxy))
            #expect(failure.name == "proxyMalformed", "\(failure)")
            await proxy.waitUntilClosed(1)
        }
    }

    @Test func `data after the proxy's response is not taken for TLS`() async throws {
        try await withServer(Reply("HTTP/1.1 200 OK\r\n\r\nThis is no TLS.")) { proxy in
            switch try await HTTPWorld.failure(of: "https://example.org/", settings: Self.settings(proxy))
            {
            case .proxyMalformed, .handshakeFailed, .connectionClosed(.handshake): break
            case let other: Issue.record("\(other)")
            }
            await proxy.waitUntilClosed(1)
        }
    }

    @Test(arguments: ["", "HTTP/1.1 20", "HTTP/1.1 100 Continue\r\n\r\n"])
    func `a proxy that closes the connection is an error`(_ text: String) async throws {
        try await withServer(Reply(text, then: .close)) { proxy in
            let failure = try await HTTPWorld.failure(of: "https://example.org/", settings: Self.settings(proxy))
            #expect(failure == .connectionClosed(.tunnel))
        }
    }

    @Test func `endless header fields of a proxy are refused`() async throws {
        let pieces = ["HTTP/1.1 200 OK\r\n", "X: y\r\n"].map { Array($0.utf8) }
        try await withServer(Reply(pieces: pieces, then: .endless)) { proxy in
            let failure = try await HTTPWorld.failure(of: "https://example.org/", settings: Self.settings(proxy))
            #expect(failure == .headersTooLarge(limit: 64 << 10))
            await proxy.waitUntilClosed(1)
        }
    }

    @Test func `a refused connection to the proxy is reported`() async throws {
        // The port stays reserved, so no server of another test can take it.
        let taken = try ScriptedServer.unreachable(.closed)
        let port = taken.port
        let settings = TrustedHTTPSettings().with(\.proxy, HTTPProxy(host: "127.0.0.1", port: port))
        let failure = try await HTTPWorld.failure(of: "https://example.org/", settings: settings)
        #expect("\(failure)".hasPrefix("cannot connect to 127.0.0.1 at port \(port): "))
        #expect("\(failure)".hasSuffix("Connection refused"))
        withExtendedLifetime(taken) {}
    }

    @Test func `an HTTP request through a proxy has the whole URL and the credentials`() async throws {
        try await withServer(.ok()) { proxy in
            let settings = Self.settings(proxy, authorization: "Basic YQ==")
            let request = try TrustedHTTPRequest("http://example.org:81/a?b#c")
            #expect(try await HTTPWorld.client().execute(request, settings: settings).text == "hello")
            #expect(
                proxy.requests == [
                    "GET http://example.org:81/a?b HTTP/1.1\r\nHost: example.org:81\r\nConnection: close\r\n"
                        + "Proxy-Authorization: Basic YQ==\r\n\r\n"
                ]
            )
        }
    }

    @Test func `a proxy that requires credentials is reported with a hint`() async throws {
        try await withServer(Reply("HTTP/1.1 407 Who\r\nContent-Length: 0\r\n\r\n")) { proxy in
            let failure = try await HTTPWorld.failure(of: "http://example.org/", settings: Self.settings(proxy))
            #expect(failure.name == "proxyRefused" && "\(failure)".contains("HTTPProxy.authorization"), "\(failure)")
        }
    }

    @Test(arguments: ["http://example.org/", "https://example.org/"])
    func `invalid proxy credentials are refused before connecting`(_ url: String) async throws {
        try await withServer(.ok()) { proxy in
            let settings = Self.settings(proxy, authorization: "a\r\nX: y")
            let failure = try await HTTPWorld.failure(of: url, settings: settings)
            #expect(failure == .invalidHeader("Proxy-Authorization"))
            #expect(proxy.connections == 0)
        }
    }
}
