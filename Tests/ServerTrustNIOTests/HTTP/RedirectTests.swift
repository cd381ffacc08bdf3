import NIOHTTP1
import NetworkLab
import ServerTrustNIO
import Testing

/// Who is followed, with what, and how far.
@Suite struct RedirectTests {
    private static let follow = TrustedHTTPSettings().with(\.redirects, .follow(maximum: 3))

    /// Follows one redirect with a body, and tells method and body of what came.
    private static func following(
        _ status: Int,
        _ method: HTTPMethod
    ) async throws -> (
        String, TrustedHTTPResponse
    ) {
        let server = try ScriptedServer { request in
            request.target == "/a" ? .redirect(status, to: "/b") : .ok()
        }
        return try await withServer(server) { server in
            var request = try TrustedHTTPRequest(
                server.url("/a"),
                method: method,
                body: Array("abc".utf8)
            )
            request.headers = ["Content-Type": "text/plain", "Authorization": "Basic YQ==", "X": "y"]
            let response = try await HTTPWorld.client().execute(request, settings: follow)
            return (server.requests.last ?? "", response)
        }
    }

    @Test(arguments: [301, 302, 303, 307, 308], [HTTPMethod.POST, .PUT])
    func methods(_ status: Int, _ method: HTTPMethod) async throws {
        let (second, response) = try await Self.following(status, method)
        let isGet = status == 303 || status < 303 && method == .POST
        #expect(second.hasPrefix(isGet ? "GET /b HTTP/1.1\r\n" : "\(method.rawValue) /b HTTP/1.1\r\n"))
        #expect(second.hasSuffix("\r\n\r\nabc") != isGet)
        #expect(second.contains("Content-Type: text/plain") != isGet)
        #expect(second.contains("Authorization: Basic YQ=="))
        #expect(second.contains("X: y"))
        #expect(response.url.target == "/b")
        #expect(response.redirects.map(\.target) == ["/a"])
    }

    @Test func headStaysHead() async throws {
        let server = try ScriptedServer { request in
            request.target == "/a?b" ? .redirect(303, to: "?c") : .status(200, length: 5)
        }
        try await withServer(server) { server in
            let request = try TrustedHTTPRequest(server.url("/a?b"), method: .HEAD)
            let response = try await HTTPWorld.client().execute(request, settings: Self.follow)
            #expect(response.status == .ok)
            #expect(server.requests.last?.hasPrefix("HEAD /a?c ") == true)
        }
    }

    @Test func notUnlessTold() async throws {
        try await withServer(.redirect(302, to: "/b")) { server in
            let response = try await HTTPWorld.client().execute(TrustedHTTPRequest(server.url()))
            #expect(response.status.code == 302)
            #expect(server.requests.count == 1)
        }
    }

    @Test(arguments: [300, 304, 305, 306])
    func otherStatusesAreAnswers(_ status: Int) async throws {
        try await withServer(.redirect(status, to: "/b")) { server in
            let request = try TrustedHTTPRequest(server.url())
            let response = try await HTTPWorld.client().execute(request, settings: Self.follow)
            #expect(response.status.code == UInt(status))
            #expect(server.requests.count == 1)
        }
    }

    @Test func withoutAPlaceItIsAnAnswer() async throws {
        try await withServer(Reply("HTTP/1.1 302 There\r\nContent-Length: 2\r\n\r\nhi")) { server in
            let request = try TrustedHTTPRequest(server.url())
            #expect(try await HTTPWorld.client().execute(request, settings: Self.follow).text == "hi")
        }
    }

    @Test(arguments: [0, 2, 3])
    func aCircleHasAnEnd(_ maximum: Int) async throws {
        try await withServer(.redirect(302, to: "/")) { server in
            let settings = Self.follow.with(\.redirects, .follow(maximum: maximum))
            let failure = try await HTTPWorld.failure(of: server.url(), settings: settings)
            #expect(failure == .tooManyRedirects(limit: maximum))
            #expect(server.requests.count == maximum + 1)
        }
    }

    @Test func credentialsStayAtTheirOrigin() async throws {
        let last = try ScriptedServer { _ in .ok() }
        let there = last.url("/back", host: "localhost")
        let first = try ScriptedServer { _ in .redirect(307, to: there) }
        var request = try TrustedHTTPRequest(first.url(), method: .POST, body: Array("abc".utf8))
        request.headers = [
            "Authorization": "Basic YQ==", "authorization": "b", "Cookie": "c",
            "Proxy-Authorization": "d",
            "Host": "virtual.example", "X": "y",
        ]
        let asked = request
        try await withServer(first) { first in
            try await withServer(last) { last in
                _ = try await HTTPWorld.client().execute(asked, settings: Self.follow)
                let second = try #require(last.requests.first)
                #expect(
                    second
                        == "POST /back HTTP/1.1\r\nHost: localhost:\(last.port)\r\nX: y\r\nConnection: close\r\n"
                        + "Content-Length: 3\r\n\r\nabc"
                )
                #expect(first.requests.first?.contains("Host: virtual.example") == true)
            }
        }
    }

    @Test func credentialsDoNotComeBack() async throws {
        // From one to the other, and back.
        let other = try ScriptedServer { .redirect(307, to: $0["X-Place"] ?? "") }
        let there = other.url(host: "localhost")
        let server = try ScriptedServer { request in
            request.target == "/home" ? .ok() : .redirect(307, to: there)
        }
        try await withServer(other) { _ in
            try await withServer(server) { server in
                var request = try TrustedHTTPRequest(server.url())
                request.headers = ["Authorization": "Basic YQ==", "X-Place": server.url("/home")]
                let response = try await HTTPWorld.client().execute(request, settings: Self.follow)
                #expect(response.redirects.count == 2)
                #expect(server.requests.first?.contains("Authorization") == true)
                #expect(server.requests.last?.hasPrefix("GET /home ") == true)
                #expect(server.requests.last?.contains("Authorization") == false)
            }
        }
    }

    @Test func neverFromHTTPSToHTTP() async throws {
        let tls = try HTTPWorld.serverContext()
        try await withServer(.ok()) { plain in
            try await withServer(.redirect(301, to: plain.url("/a")), tls: tls) { server in
                let failure = try await HTTPWorld.failure(of: server.url(), settings: Self.follow)
                #expect(failure == .insecureRedirect(try TrustedHTTPURL(plain.url("/a"))))
                #expect(plain.connections == 0)
            }
        }
    }

    @Test func fromHTTPToHTTPS() async throws {
        let tls = try HTTPWorld.serverContext()
        try await withServer(.ok(), tls: tls) { secure in
            try await withServer(.redirect(301, to: secure.url("/a"))) { server in
                let request = try TrustedHTTPRequest(server.url())
                let response = try await HTTPWorld.client().execute(request, settings: Self.follow)
                #expect(response.url.scheme == .https)
                #expect(response.handshake?.host == "127.0.0.1")
            }
        }
    }

    @Test(arguments: [
        "ftp://a.example/", "http://user@a.example/", "http://a b/", "http://[::1/",
        "javascript:alert(1)",
    ])
    func placesThatCannotBeRead(_ place: String) async throws {
        try await withServer(.redirect(302, to: place)) { server in
            switch try await HTTPWorld.failure(of: server.url(), settings: Self.follow) {
            case .invalidRedirect(_, let problem): #expect(!problem.isEmpty)
            case let other: Issue.record("\(other)")
            }
        }
    }

    @Test func twoPlaces() async throws {
        let reply = Reply(
            "HTTP/1.1 302 There\r\nLocation: /a\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n"
        )
        try await withServer(reply) { server in
            switch try await HTTPWorld.failure(of: server.url(), settings: Self.follow) {
            case .invalidRedirect: break
            case let other: Issue.record("\(other)")
            }
        }
    }
}
