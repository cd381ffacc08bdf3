import LinuxSupport
import NetworkLab
import NetworkReachability
import ServerTrustNIO
import Testing

@testable import ReachabilityChecks

/// Requests with options, and the content of responses.
@Suite struct WebExchangeTests {
    @Test(arguments: [
        ("ok", "it is ok", true), ("^it", "it is", true), ("^is", "it is", false), ("is$", "it is", true),
        ("it$", "it is", false),
        ("a.c", "abc", true), ("a.c", "a\nc", false), ("a[b-d]+e", "xabcde", true), ("a[^b]e", "abe", false),
        ("[]x]", "]", true),
        ("a|bc|d", "xbcx", true), ("(?:ab)*c", "ababc", true), ("^(ab){2}$", "abab", true), ("^(ab){2}$", "ab", false),
        ("^a{2,3}$", "aaaa", false), ("^a{2,}$", "aaaa", true), ("^a?b$", "b", true), ("\\d{3}", "a12b345", true),
        ("\\D", "123", false), ("^\\w+\\s\\w+$", "hello world", true), ("\\W", "a_1", false), ("\\.", "x", false),
        ("a\\|b", "a|b", true),
        ("(?i)HELLO [w]orld", "say hello WORLD", true), ("HELLO", "hello", false), ("müller", "frau müller", true),
        ("^$", "", true), ("^$", "x", false), ("x*", "", true), ("(|a)b", "b", true),
        ("\"status\": *\"up\"", "{\"status\":\"up\"}", true),
        ("a+?b", "aab", true), ("^(a|ab)(c|bcd)$", "abcd", true), ("(a*)*c", "aab", false), ("[a-]", "-", true),
        ("\\n", "a\nb", true), ("^[[:digit:]]+$", "12", true), ("[[:digit:]]", ":dig", false),
        ("^[^[:space:][:punct:]]$", "a", true), ("^[[:alpha:]_][[:alnum:]]$", "_7", true), ("[[:upper:]]", "a", false),
        ("(?i)[[:lower:]]", "A", true), ("^[[:xdigit:]-]+$", "fF-0", true), ("[a[]", "[", true),
    ])
    func `a pattern matches a part of the text`(pattern: String, text: String, matches: Bool) throws {
        #expect(try TextPattern(pattern).matches(text.utf8) == matches)
    }

    @Test func `an end that may not be the end of the text does not match`() throws {
        #expect(try !TextPattern("it$").matches("it".utf8, isWhole: false))
        #expect(try TextPattern("it").matches("it".utf8, isWhole: false))
    }

    @Test(arguments: [
        "", "(", ")", "a)", "(a", "[a", "[]", "*a", "a**", "a{2", "a{3,2}", "a{256}", "{1}", "\\", "\\q", "(?=a)",
        "[b-a]", "[ä]", "a|*", "[[:word:]]", "[[.a.]]", "[[=a=]]", "(a{1,20}){20}",
        "((a{200}){200}){200}", String(repeating: "a", count: 257), String(repeating: "(", count: 40),
    ])
    func `other texts are not patterns`(text: String) {
        #expect(throws: TextPattern.Fault.self) { try TextPattern(text) }
    }

    /// A search with backtracking would take longer than the age of the universe.
    @Test(arguments: ["(a*)*b", "(a|a)*b", "(a|aa)+$b", "(a{1,10}){1,10}b"])
    func `a search with nested repetitions ends quickly`(pattern: String) throws {
        #expect(try !TextPattern(pattern).matches([UInt8](repeating: UInt8(ascii: "a"), count: 500)))
    }

    @Test func `a pointer follows RFC 6901`() throws {
        let text = #"{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"m~n":8,"x":{"y":null}}"#
        let document = try #require(JSONValue(Array(text.utf8)))
        for (pointer, value): (String, JSONValue?) in [
            ("", document), ("/foo/0", .string("bar")), ("/", .number("0")), ("/a~1b", .number("1")),
            ("/c%d", .number("2")),
            ("/m~0n", .number("8")), ("/x/y", .null), ("/foo/2", nil), ("/foo/-", nil), ("/foo/01", nil),
            ("/foo/+1", nil), ("/x/y/z", nil),
        ] {
            #expect(try #require(JSONPointer(pointer)).value(in: document) == value, "\(pointer)")
        }
        for text in ["foo", "/a~", "/a~2", " /a"] { #expect(JSONPointer(text) == nil, "\(text)") }
    }

    @Test func `the first difference of a body is named`() throws {
        func problem(_ body: String, _ change: (inout WebExchange) throws -> Void) rethrows -> String? {
            var exchange = WebExchange()
            try change(&exchange)
            return exchange.problem(in: Array(body.utf8))
        }
        func requiring(_ pointer: String, _ value: JSONValue, _ body: String) throws -> String? {
            let pointer = try #require(JSONPointer(pointer))
            return problem(body) { $0.values = [.init(pointer, value)] }
        }
        #expect(problem("anything") { _ in } == nil)
        #expect(problem("all is well") { $0.content = "is well" } == nil)
        #expect(problem("all is bad") { $0.content = "is well" } == "its body does not contain the expected text")
        #expect(
            try problem("bad") { $0.pattern = try TextPattern("ok") } == "its body does not match the expected pattern"
        )
        #expect(try requiring("/status", .string("ok"), #"{"status":"ok"}"#) == nil)
        #expect(try requiring("/n", .number("1"), #"{"n":1.0}"#) == nil)
        #expect(try requiring("/status", .string("ok"), #"{"status":"down"}"#) == "/status is \"down\", not \"ok\"")
        #expect(try requiring("/n", .number("1"), #"{"n":"1"}"#) == "/n is \"1\", not 1")
        #expect(try requiring("/a", .bool(true), #"{"b":true}"#) == "its JSON has no value /a")
        #expect(try requiring("", .bool(true), "false") == "its JSON is false, not true")
        #expect(try requiring("/a", .bool(true), "<html>") == "its body is not JSON with at most 16 levels")
    }

    @Test(arguments: [
        ("/login", "https://a.example:8443/login"), ("?x=1", "https://a.example:8443/one/two?x=1"),
        ("three", "https://a.example:8443/one/three"), ("//b.example/x", "https://b.example/x"),
        ("http://c.example", "http://c.example/"),
        ("HTTPS://c.example/#top", "https://c.example/"),
    ])
    func `a location is resolved against the URL`(location: String, url: String) throws {
        let base = try TrustedHTTPURL("https://a.example:8443/one/two?q=/")
        #expect(base.resolving(location).map { "\($0)" } == url)
    }

    @Test(arguments: ["mailto:a@example.org", "ftp://a.example/", "https://u@a.example/", "http://", "javascript:1"])
    func `other locations are not followed`(location: String) throws {
        #expect(try TrustedHTTPURL("https://a.example/").resolving(location) == nil)
    }

    @Test func `credentials and the body stay at their origin`() throws {
        var exchange = WebExchange()
        (exchange.method, exchange.body, exchange.redirects) = ("POST", [1], 3)
        exchange.headers = [.init("Authorization", "Bearer x"), .init("Content-Type", "text/plain")]
        let request = WebRequest(try TrustedHTTPURL("https://a.example/in"), exchange)
        let same = try #require(request.redirected(307, to: "/other"))
        #expect(
            same.exchange.method == "POST" && same.exchange.body == [1] && same.exchange.headers.count == 2
                && same.redirects == 2
        )
        let seen = try #require(request.redirected(302, to: "/other"))
        #expect(
            seen.exchange.method == "GET" && seen.exchange.body.isEmpty
                && seen.exchange.headers.map(\.name) == ["Authorization"]
        )
        for location in ["http://a.example/", "https://a.example:444/", "https://www.a.example/"] {
            for status in [302, 307] {
                let other = try #require(request.redirected(status, to: location))
                #expect(other.exchange.headers.isEmpty && other.exchange.body.isEmpty)
                // They are not sent again at the origin.
                #expect(other.redirected(307, to: "https://a.example/")?.exchange.headers == [])
            }
        }
    }
}

/// Checks of web servers with options, through the whole check.
@Suite struct WebOptionTests {
    /// Runs a check of a server on the loopback interface of a namespace.
    private func check(
        _ world: WebWorld,
        _ url: String,
        _ change: (inout WebExchange) -> Void = { _ in }
    ) async throws -> CheckReport {
        var target = try CheckTarget(url)
        change(&target.exchange)
        var options = CheckOptions()
        options.networkNamespace = .path(world.namespace.path)
        options.nameServers = []
        options.timeLimit = .patience
        let here = try #require(IPAddress("127.0.0.1"))
        options.resolutions = ["a.example": [here], "b.example": [here], "absent.example": []]
        return try await NetworkCheck(target: target, options: options).run()
    }

    private func run(
        _ answer: @escaping @Sendable (ReceivedRequest) -> ScriptedReply,
        _ body: (WebWorld, ScriptedServer) async throws -> Void
    ) async throws {
        let world = try await WebWorld()
        defer { world.close() }
        let server = try await LabThread.detached { try ScriptedServer(in: world.namespace, answer: answer) }
        defer { server.stop() }
        try await body(world, server)
    }

    @Test func `method, header fields and body are sent as configured`() async throws {
        try await run({ _ in .status(200, body: Array("done".utf8)) }) { world, server in
            let report = try await check(world, "http://a.example:\(server.port)/in?key=1") { exchange in
                (exchange.method, exchange.body) = ("PUT", Array("{}".utf8))
                exchange.headers = [.init("X-Key", "k"), .init("User-Agent", "probe"), .init("Host", "c.example")]
                exchange.content = "done"
            }
            #expect(report.verdict.failurePoint == .works, "\(report.verdict)")
            let request = try #require(server.received.first)
            #expect(request.method == "PUT" && request.target == "/in?key=1" && request.bodyText == "{}")
            #expect(request["x-key"] == "k" && request["user-agent"] == "probe" && request["host"] == "c.example")
            #expect(request["content-length"] == "2")
        }
    }

    @Test func `a wrong content is a fault of the service, with the difference`() async throws {
        try await run({ _ in .status(200, body: Array(#"{"status":"down"}"#.utf8)) }) { world, server in
            let pointer = try #require(JSONPointer("/status"))
            let report = try await check(world, "http://a.example:\(server.port)/") {
                $0.values = [.init(pointer, .string("ok"))]
            }
            #expect(report.verdict.failurePoint == .service && report.verdict.reason == .bodyNotExpected)
            #expect(report.verdict.text.hasSuffix("gives a wrong answer: /status is \"down\", not \"ok\""))
        }
    }

    @Test func `a text at the end of a large body is found, and one beyond the limit is not`() async throws {
        let sizes = [200_000, WebLimits.content + 10]
        for size in sizes {
            let body = [UInt8](repeating: 0x2e, count: size) + Array("end".utf8)
            try await run({ _ in .status(200, body: body) }) { world, server in
                let report = try await check(world, "http://a.example:\(server.port)/") { $0.content = "end" }
                #expect((report.verdict.failurePoint == .works) == (size == sizes[0]), "\(report.verdict)")
            }
        }
    }

    @Test func `a page that never ends is read until it contains the expected text`() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
        let reply = ScriptedReply(pieces: [Array((head + "it is well").utf8)], then: .stay)
        try await run({ _ in reply }) { world, server in
            let report = try await check(world, "http://a.example:\(server.port)/") {
                ($0.content, $0.pattern) = ("well", try? TextPattern("^it is"))
            }
            #expect(report.verdict.failurePoint == .works && server.connections == 1, "\(report.verdict)")
        }
    }

    /// Redirects along `/0`, `/1` and so on to `/3`.
    @Sendable private static func stair(_ request: ReceivedRequest) -> ScriptedReply {
        guard let step = Int(request.target.dropFirst()), step < 3 else { return .status(200, body: Array("top".utf8)) }
        return .redirect(302, to: "/\(step + 1)")
    }

    @Test(arguments: [(0, CheckPlace.works, 1), (2, .service, 3), (3, .works, 4)])
    func `as many redirects are followed as permitted`(redirects: Int, place: CheckPlace, requests: Int) async throws {
        try await run(Self.stair) { world, server in
            let report = try await check(world, "http://a.example:\(server.port)/0") { $0.redirects = redirects }
            #expect(report.verdict.failurePoint == place, "\(report.verdict)")
            #expect(server.received.count == requests)
            let probe = try #require(report.allProbes.first { $0.kind == .http })
            if redirects == 2 { #expect(report.verdict.reason == .tooManyRedirects) }
            if redirects == 3 {
                #expect(probe.finalURL == "http://a.example:\(server.port)/3" && probe.status == 200)
                #expect(!report.verdict.notes.contains("redirected"))
            }
        }
    }

    @Test func `another host is contacted without credentials`() async throws {
        let port = Locked(0)
        let answer: @Sendable (ReceivedRequest) -> ScriptedReply = { request in
            let isFirst = request["host"]?.hasPrefix("a.example") == true
            return isFirst ? .redirect(307, to: "http://b.example:\(port.withLock { $0 })/x?key=1") : .status(200)
        }
        try await run(answer) { world, server in
            port.withLock { $0 = server.port }
            let report = try await check(world, "http://a.example:\(server.port)/") { exchange in
                exchange.redirects = 1
                exchange.headers = [.init("Authorization", "Bearer secret")]
            }
            #expect(report.verdict.failurePoint == .works, "\(report.verdict)")
            #expect(server.received.map { $0["authorization"] } == ["Bearer secret", nil])
            #expect(report.allProbes.compactMap(\.finalURL) == ["http://b.example:\(server.port)/x?***"])
        }
    }

    /// This machine has no uplink, so the place of the fault is not examined.
    @Test(arguments: ["http://absent.example/", "http://b.example:9/", "mailto:a@example.org"])
    func `a redirect to a server that does not answer has its reason`(location: String) async throws {
        try await run({ _ in .redirect(302, to: location) }) { world, server in
            let report = try await check(world, "http://a.example:\(server.port)/") { $0.redirects = 1 }
            #expect(report.verdict.failurePoint != .works, "\(report.verdict)")
            #expect(report.allProbes.first { $0.kind == .http }?.reason == .redirectFailed)
        }
    }
}
