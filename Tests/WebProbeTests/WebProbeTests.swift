import LinuxSupport
import NetworkLab
import NetworkReachability
import Testing
import WebLab

@testable import ReachabilityChecks

/// The behaviour of a server, the request, and the expected result.
struct WebCase: Sendable, CustomTestStringConvertible {
    var name: String
    var behaviour: WebBehaviour
    var purpose: WebRequest.Purpose
    var outcome: ProbeOutcome
    var failedPhase: ProbePhase?
    var phases: Set<ProbePhase> = [.connect, .request, .firstByte, .transfer]
    var status: Int?
    /// True if the answer never ends, so that the test waits for the time limit.
    var isEndless = false

    var testDescription: String { name }

    static let anchor = WebRequest.Purpose.anchor(nonce: WebWorld.nonce)

    static let answered: [WebCase] = [
        WebCase(name: "the nonce is echoed", behaviour: .anchor, purpose: anchor, outcome: .answered, status: 204),
        WebCase(
            name: "the nonce is not echoed",
            behaviour: .faked,
            purpose: anchor,
            outcome: .invalid(.challengeWrong),
            status: 204
        ),
        WebCase(
            name: "another nonce is echoed",
            behaviour: .answer(204, headers: [("Reachability-Response", "0123")]),
            purpose: anchor,
            outcome: .invalid(.challengeWrong),
            status: 204
        ),
        WebCase(
            name: "an anchor redirects",
            behaviour: .redirect(to: "https://portal.example/"),
            purpose: anchor,
            outcome: .invalid(.statusNotExpected),
            status: 302
        ),
        WebCase(
            name: "an anchor requires network authentication",
            behaviour: .authenticationRequired,
            purpose: anchor,
            outcome: .invalid(.networkAuthenticationRequired),
            status: 511
        ),
        WebCase(
            name: "a target redirects",
            behaviour: .redirect(to: "/x"),
            purpose: .target,
            outcome: .answered,
            status: 302
        ),
        WebCase(
            name: "a target does not have the path",
            behaviour: .answer(404),
            purpose: .target,
            outcome: .answered,
            status: 404
        ),
        WebCase(
            name: "a target answers with a server error",
            behaviour: .answer(503),
            purpose: .target,
            outcome: .invalid(.statusNotExpected),
            status: 503
        ),
        WebCase(
            name: "an interim response precedes the final one",
            behaviour: .bytes(Array("HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8)),
            purpose: .target,
            outcome: .answered,
            status: 200
        ),
        WebCase(
            name: "the response arrives byte by byte",
            behaviour: .byteByByte(.page("<p>slow</p>")),
            purpose: .target,
            outcome: .answered,
            status: 200
        ),
        WebCase(
            name: "the response is longer than needed",
            behaviour: .body(3_000_000),
            purpose: .target,
            outcome: .answered,
            status: 200
        ),
        WebCase(
            name: "the unassigned address answers with a page",
            behaviour: .page("<p>Log in</p>"),
            purpose: .page,
            outcome: .answered,
            phases: [.connect, .request, .firstByte],
            status: 200
        ),
        WebCase(
            name: "the unassigned address answers with a server error",
            behaviour: .answer(500),
            purpose: .page,
            outcome: .answered,
            phases: [.connect, .request, .firstByte],
            status: 500
        ),
    ]

    static let portal: [WebCase] = [
        WebCase(
            name: "the captive portal API reports captive",
            behaviour: .portalAPI("{\"captive\":true,\"user-portal-url\":\"https://portal.example/\"}"),
            purpose: .portalAPI,
            outcome: .answered,
            status: 200
        ),
        WebCase(
            name: "the captive portal API's answer is not JSON",
            behaviour: .portalAPI("<html>"),
            purpose: .portalAPI,
            outcome: .invalid(.bodyNotExpected),
            status: 200
        ),
        WebCase(
            name: "the captive portal API's answer is too large",
            behaviour: .portalAPI("{\"captive\":true}" + String(repeating: " ", count: 70_000)),
            purpose: .portalAPI,
            outcome: .invalid(.tooLarge),
            failedPhase: .transfer,
            phases: [.connect, .request, .firstByte],
            status: 200
        ),
        WebCase(
            name: "the captive portal API does not have the path",
            behaviour: .answer(404),
            purpose: .portalAPI,
            outcome: .invalid(.statusNotExpected),
            status: 404
        ),
    ]

    static let broken: [WebCase] = [
        WebCase(
            name: "the connection is closed immediately",
            behaviour: .closedConnection,
            purpose: .target,
            outcome: .invalid(.closedWithoutAnswer),
            failedPhase: .firstByte,
            phases: [.connect, .request]
        ),
        WebCase(
            name: "the connection is closed after the request",
            behaviour: .closedRequest,
            purpose: .target,
            outcome: .invalid(.closedWithoutAnswer),
            failedPhase: .firstByte,
            phases: [.connect, .request]
        ),
        WebCase(
            name: "the answer is not HTTP",
            behaviour: .bytes(Array("220 mail.example ESMTP\r\n".utf8)),
            purpose: .target,
            outcome: .invalid(.notHTTP),
            failedPhase: .firstByte,
            phases: [.connect, .request]
        ),
        WebCase(
            name: "the head never ends",
            behaviour: .bytes(Array(("HTTP/1.1 200 OK\r\nA: " + String(repeating: "a", count: 100_000)).utf8)),
            purpose: .target,
            outcome: .invalid(.tooLarge),
            failedPhase: .firstByte,
            phases: [.connect, .request]
        ),
        WebCase(
            name: "the reason phrase never ends",
            behaviour: .bytes(Array(("HTTP/1.1 200 " + String(repeating: "a", count: 100_000)).utf8)),
            purpose: .target,
            outcome: .invalid(.tooLarge),
            failedPhase: .firstByte,
            phases: [.connect, .request]
        ),
        WebCase(
            name: "interim responses never end",
            behaviour: .bytes(Array(String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: 100).utf8)),
            purpose: .target,
            outcome: .invalid(.notHTTP),
            failedPhase: .firstByte,
            phases: [.connect, .request]
        ),
        WebCase(
            name: "the answer is another protocol",
            behaviour: .bytes(Array("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n".utf8)),
            purpose: .target,
            outcome: .invalid(.notHTTP),
            failedPhase: .firstByte,
            phases: [.connect, .request]
        ),
        WebCase(
            name: "there is no answer",
            behaviour: .silentRequest,
            purpose: .target,
            outcome: .silent,
            failedPhase: .firstByte,
            phases: [.connect, .request],
            isEndless: true
        ),
        WebCase(
            name: "the body is incomplete",
            behaviour: .stalledBody(2000),
            purpose: .target,
            outcome: .invalid(.stalled),
            failedPhase: .transfer,
            phases: [.connect, .request, .firstByte],
            status: 200,
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

    @Test func `the target of a redirect is reported without secrets of the URL`() async throws {
        let world = try await WebWorld()
        defer { world.close() }
        let place = "https://login.example/?next=%2F%3Fkey%3Dhush"
        let server = try await WebServer(in: world.namespace, .redirect(to: place))
        let redirected = try await world.fetch(server, path: "/?key=hush")
        #expect(redirected.evidence.http?.location == "https://login.example/?***")
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
