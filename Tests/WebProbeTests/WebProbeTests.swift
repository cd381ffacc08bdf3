import LinuxSupport
import NetworkLab
import NetworkReachability
import Testing
import WebLab

@testable import ReachabilityChecks

/// The behaviour of a server, the request, and the expected result.
struct WebCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let behaviour: WebBehaviour
    let purpose: WebRequest.Purpose
    let outcome: ProbeOutcome
    /// The status of the answer; nil without an answer.
    let status: Int?
    var failedPhase: ProbePhase?
    var phases: Set<ProbePhase> = [.connect, .request, .firstByte, .transfer]
    /// True if the answer never ends, so that the test waits for the time limit.
    var isEndless = false

    init(
        _ name: String,
        _ behaviour: WebBehaviour,
        _ purpose: WebRequest.Purpose,
        _ outcome: ProbeOutcome,
        _ status: Int?
    ) {
        (testDescription, self.behaviour, self.purpose) = (name, behaviour, purpose)
        (self.outcome, self.status) = (outcome, status)
    }

    /// Creates a case in which the server ends the exchange in a phase.
    private static func failing(
        in phase: ProbePhase,
        _ name: String,
        _ behaviour: WebBehaviour,
        _ outcome: ProbeOutcome,
        _ status: Int? = nil,
        purpose: WebRequest.Purpose = .target,
        isEndless: Bool = false
    ) -> WebCase {
        var one = WebCase(name, behaviour, purpose, outcome, status)
        (one.failedPhase, one.isEndless) = (phase, isEndless)
        one.phases = phase == .transfer ? [.connect, .request, .firstByte] : [.connect, .request]
        return one
    }

    /// Creates a case in which the unassigned address answers. The body is not read.
    private static func intercepting(_ name: String, _ behaviour: WebBehaviour, _ status: Int) -> WebCase {
        var one = WebCase(name, behaviour, .page, .answered, status)
        one.phases = [.connect, .request, .firstByte]
        return one
    }

    private static func bytes(_ text: String) -> WebBehaviour { .bytes(Array(text.utf8)) }

    static let anchor = WebRequest.Purpose.anchor(nonce: WebWorld.nonce)
    private static let otherNonce = WebBehaviour.answer(204, headers: [("Reachability-Response", "0123")])
    private static let interim = "HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
    private static let long = String(repeating: "a", count: 100_000)

    static let answered: [WebCase] = [
        WebCase("the nonce is echoed", .anchor, anchor, .answered, 204),
        WebCase("the nonce is not echoed", .faked, anchor, .invalid(.challengeWrong), 204),
        WebCase("another nonce is echoed", otherNonce, anchor, .invalid(.challengeWrong), 204),
        WebCase("an anchor redirects", .redirect(to: "https://p.example/"), anchor, .invalid(.statusNotExpected), 302),
        WebCase(
            "an anchor requires network authentication",
            .authenticationRequired,
            anchor,
            .invalid(.networkAuthenticationRequired),
            511
        ),
        WebCase("a target redirects", .redirect(to: "/x"), .target, .answered, 302),
        WebCase("a target does not have the path", .answer(404), .target, .answered, 404),
        WebCase("a target answers with a server error", .answer(503), .target, .invalid(.statusNotExpected), 503),
        WebCase("an interim response precedes the final one", bytes(interim), .target, .answered, 200),
        WebCase("the response arrives byte by byte", .byteByByte(.page("<p>slow</p>")), .target, .answered, 200),
        WebCase("the response is longer than needed", .body(3_000_000), .target, .answered, 200),
        intercepting("the unassigned address answers with a page", .page("<p>Log in</p>"), 200),
        intercepting("the unassigned address answers with a server error", .answer(500), 500),
    ]

    private static let captive = "{\"captive\":true,\"user-portal-url\":\"https://portal.example/\"}"
    private static let padded = "{\"captive\":true}" + String(repeating: " ", count: 70_000)

    static let portal: [WebCase] = [
        WebCase("the captive portal API reports captive", .portalAPI(captive), .portalAPI, .answered, 200),
        WebCase("its answer is not JSON", .portalAPI("<html>"), .portalAPI, .invalid(.bodyNotExpected), 200),
        WebCase("it does not have the path", .answer(404), .portalAPI, .invalid(.statusNotExpected), 404),
        failing(
            in: .transfer,
            "its answer is too large",
            .portalAPI(padded),
            .invalid(.tooLarge),
            200,
            purpose: .portalAPI
        ),
    ]

    private static let interims = String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: 100)
    private static let upgrade = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n"
    private static let closed = ProbeOutcome.invalid(.closedWithoutAnswer)

    static let broken: [WebCase] = [
        failing(in: .firstByte, "the connection is closed immediately", .closedConnection, closed),
        failing(in: .firstByte, "the connection is closed after the request", .closedRequest, closed),
        failing(in: .firstByte, "the answer is not HTTP", bytes("220 mail.example ESMTP\r\n"), .invalid(.notHTTP)),
        failing(in: .firstByte, "the head never ends", bytes("HTTP/1.1 200 OK\r\nA: \(long)"), .invalid(.tooLarge)),
        failing(in: .firstByte, "the reason phrase never ends", bytes("HTTP/1.1 200 \(long)"), .invalid(.tooLarge)),
        failing(in: .firstByte, "interim responses never end", bytes(interims), .invalid(.notHTTP)),
        failing(in: .firstByte, "the answer is another protocol", bytes(upgrade), .invalid(.notHTTP)),
        failing(in: .firstByte, "there is no answer", .silentRequest, .silent, isEndless: true),
        failing(
            in: .transfer,
            "the body is incomplete",
            .stalledBody(2000),
            .invalid(.stalled),
            200,
            isEndless: true
        ),
    ]
}

@Suite struct WebProbeTests {
    @Test(arguments: WebCase.answered + WebCase.portal + WebCase.broken)
    func `each behaviour of a server has its outcome`(expected: WebCase) async throws {
        let world = try await WebWorld()
        defer { world.close() }
        let server = try await WebServer(in: world.namespace, expected.behaviour)
        let result = try await world.fetch(
            server,
            expected.purpose,
            limit: expected.isEndless ? .seconds(8) : .seconds(60)
        )
        #expect(result.outcome == expected.outcome, "\(result)")
        #expect(result.request.kind == (expected.purpose == .portalAPI ? .portalAPI : .http))
        #expect(result.failedPhase == expected.failedPhase)
        // A connection that is closed immediately may end before the request is sent.
        if case .closedConnection = expected.behaviour {
        } else {
            #expect(Set(result.phases.keys) == expected.phases)
        }
        #expect(result.evidence.http?.status == expected.status)
        #expect(result.evidence.tls == nil)
        #expect(server.connections == 1)
        await server.close()
    }

    /// Chunk extensions and trailers are not part of the body. An earlier version did not count them.
    @Test(arguments: [
        "5;" + String(repeating: "x", count: 4_000_000),
        String(repeating: "1\r\na\r\n", count: 4000) + String(repeating: "0", count: 4_000_000),
    ])
    func `a server that sends endless data between chunks is disconnected`(chunks: String) async throws {
        let world = try await WebWorld()
        defer { world.close() }
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        let server = try await WebServer(in: world.namespace, .bytes(Array((head + chunks).utf8)))
        let result = try await world.fetch(server, .portalAPI)
        #expect(result.outcome == .invalid(.tooLarge), "\(result)")
        let target = try await world.fetch(server, .target)
        #expect(result.cost.bytes < 64 * 1024 && target.cost.bytes < 256 * 1024, "\(result.cost) \(target.cost)")
        await server.close()
    }

    @Test(arguments: [
        ("https://login.example/?next=%2F%3Fkey%3Dhush", "https://login.example/***"),
        ("https://login.example/next/%2F%3Fkey%3Dhush", "https://login.example/***"),
        ("https://login.example#/?key=hush", "https://login.example/***"), ("/login/?key=hush", "***"),
    ])
    func `the target of a redirect is reported without secrets of the URL`(place: String, shown: String) async throws {
        let world = try await WebWorld()
        defer { world.close() }
        let server = try await WebServer(in: world.namespace, .redirect(to: place))
        for purpose in [WebRequest.Purpose.target, WebCase.anchor] {
            let redirected = try await world.fetch(server, purpose, path: "/?key=hush")
            #expect(redirected.evidence.http?.location == shown)
        }
        let other = try await world.fetch(server, path: "/")
        #expect(other.evidence.http?.location == place)
        await server.close()
    }

    @Test func `the observations of a request are reported`() async throws {
        let world = try await WebWorld()
        defer { world.close() }
        let server = try await WebServer(in: world.namespace, .redirect(to: "https://portal.example/?a"))
        let redirected = try await world.fetch(server, WebCase.anchor)
        #expect(redirected.evidence.http?.location == "https://portal.example/?a")
        #expect(redirected.evidence.http?.challenge == .missing && redirected.looksCaptive)
        server.behave(.anchor)
        let echoed = try await world.fetch(server, WebCase.anchor)
        #expect(echoed.isEchoed && !echoed.looksCaptive)
        server.behave(.portalAPI("{\"captive\":true,\"seconds-remaining\":7}"))
        let captive = try await world.fetch(server, .portalAPI)
        #expect(captive.evidence.portal?.isCaptive == true && captive.evidence.portal?.secondsRemaining == 7)
        await server.close()
    }

    @Test(arguments: [Duration.zero, .seconds(200_000), .seconds(-200_000)])
    func `the server's clock is compared with this machine's`(offset: Duration) async throws {
        let world = try await WebWorld()
        defer { world.close() }
        let server = try await WebServer(in: world.namespace)
        server.setClock(ahead: offset)
        let result = try await world.fetch(server, WebCase.anchor)
        let found = try #require(result.evidence.http?.clockOffset)
        #expect(found - offset > .seconds(-300) && found - offset < .seconds(300))
        await server.close()
    }

    @Test func `the request contains no other fields`() async throws {
        let world = try await WebWorld()
        defer { world.close() }
        let server = try await WebServer(in: world.namespace)
        _ = try await world.fetch(server, WebCase.anchor, path: "/a?b=c")
        _ = try await world.fetch(server, .target, host: "[::1]", at: "::1")
        _ = try await world.fetch(server, .portalAPI)
        let common = "User-Agent: reachability-check\r\nAccept:"
        let close = "Connection: close\r\n\r\n"
        #expect(
            server.requests == [
                "GET /a?b=c HTTP/1.1\r\nHost: web.example:\(server.port)\r\n\(common) */*\r\n"
                    + "Reachability-Challenge: \(WebWorld.nonce)\r\n\(close)",
                "GET / HTTP/1.1\r\nHost: [::1]:\(server.port)\r\n\(common) */*\r\n\(close)",
                "GET / HTTP/1.1\r\nHost: web.example:\(server.port)\r\n\(common) application/captive+json\r\n\(close)",
            ]
        )
        await server.close()
    }

    @Test func `a failed connection is reported as such`() async throws {
        let world = try await WebWorld()
        defer { world.close() }
        let server = try await WebServer(in: world.namespace)
        await server.close()
        var result = try await world.fetch(server, .target, isSecure: true)
        // A child of another test that has not executed its program yet may hold the port for a moment.
        for _ in 0..<20 where result.outcome != .refused(.peer) {
            result = try await world.fetch(server, .target, isSecure: true)
        }
        #expect(result.outcome == .refused(.peer) && result.request.kind == .http && result.failedPhase == .connect)
        #expect(result.phases.isEmpty)
    }

    @Test func `the cost is the kernel's count of packets`() async throws {
        let world = try await WebWorld()
        defer { world.close() }
        let server = try await WebServer(in: world.namespace)
        let result = try await world.fetch(server, WebCase.anchor)
        // SYN, SYN-ACK, ACK, request, ACK, response, ACK, FIN, ACK and RST. Some of them are combined.
        #expect((6...10).contains(result.cost.packets), "\(result.cost)")
        #expect((500...1500).contains(result.cost.bytes), "\(result.cost)")
        #expect(result.evidence.kernelRoundTrip != nil && result.evidence.pathMTU != nil)
        #expect(result.evidence.segmentSize != nil && result.evidence.retransmits == 0 && result.evidence.lost == 0)
        await server.close()
    }

    @Test(arguments: [WebBehaviour.silentRequest, .silentConnection, .stalledBody(2000)])
    func `a cancelled probe leaves no connection`(behaviour: WebBehaviour) async throws {
        let world = try await WebWorld()
        defer { world.close() }
        let server = try await WebServer(in: world.namespace, behaviour)
        let task = Task { try await world.fetch(server, .target) }
        while server.connections == 0 { await Task.yield() }
        task.cancel()
        #expect(try await task.value.outcome == .cancelled)
        // The probe has returned, so its socket is closed, and the server notices it.
        while server.openConnections > 0 { await Task.yield() }
        #expect(try await world.openConnections() == [])
        await server.close()
    }

    @Test func `many concurrent probes leave no file descriptor open`() async throws {
        let world = try await WebWorld()
        defer { world.close() }
        let server = try await WebServer(in: world.namespace)
        let answered = try await withThrowingTaskGroup(of: ProbeOutcome.self) { group in
            for index in 0..<100 {
                group.addTask {
                    let limit: Duration = index % 5 == 0 ? .zero : .seconds(60)
                    return try await world.fetch(server, WebCase.anchor, limit: limit).outcome
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 == .answered ? 1 : 0 }
        }
        #expect(answered >= 80)
        while server.openConnections > 0 { await Task.yield() }
        while try await !world.openConnections().isEmpty { await Task.yield() }
        await server.close()
    }
}
