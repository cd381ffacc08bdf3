import NetworkLab
import ServerTrust
import ServerTrustNIO
import TestSupport
import Testing
import TrustForge

/// A revocation checker with real servers.
@Suite struct FetcherTests {
    enum Kind: String {
        case responder, list
    }

    /// Returns the reason for which a certificate is refused that names the server as responder or list server.
    private static func verdict(
        _ kind: Kind,
        at url: String,
        settings: RevocationSettings = RevocationSettings(),
        allowsLocalAddresses: Bool = true
    ) async throws -> TrustFailure? {
        let leaf = kind == .responder ? RevocationWorld.leaf(responders: [url]) : RevocationWorld.leaf(lists: [url])
        let fetcher = try HTTPRevocationFetcher(
            configuration: HTTPWorld.configuration,
            allowsLocalAddresses: allowsLocalAddresses
        )
        let trust = try ServerTrust(
            [leaf],
            anchors: [RevocationWorld.authority],
            revocation: RevocationChecker(fetcher: fetcher, settings: settings)
        )
        return await RevocationTrustEvaluator(options: [.any, .requirePositiveResponse]).onlineReason(trust)
    }

    private static func problem(
        _ kind: Kind,
        _ reply: Reply,
        settings: RevocationSettings = RevocationSettings()
    ) async throws -> RevocationProblem? {
        try await withServer(reply) { server in
            let problem = problem(try await verdict(kind, at: server.url(), settings: settings))
            #expect(server.requests.count <= 1)
            return problem
        }
    }

    /// Returns the first problem of an unknown status.
    private static func problem(_ failure: TrustFailure?) -> RevocationProblem? {
        guard case .revocationUnknown(_, let doubt) = failure else { return nil }
        return doubt.obstacles.first?.problem
    }

    private static func cause(_ problem: RevocationProblem?) -> String? {
        guard case .unreachable(let cause) = problem else { return nil }
        return cause
    }

    /// The hosts are a name and several forms of the loopback address.
    @Test(arguments: ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0"])
    func `a server of this machine is contacted only if that is allowed`(host: String) async throws {
        try await withServer(.ok(ForgedResponse().der())) { server in
            let url = server.url("/ocsp").replacing("127.0.0.1", with: host)
            let failure = try await Self.verdict(.responder, at: url, allowsLocalAddresses: false)
            #expect(server.requests.isEmpty)
            let cause = Self.cause(Self.problem(failure))
            #expect(cause?.contains("loopback, link-local or multicast") == true)
            #expect(try await Self.verdict(.responder, at: server.url("/ocsp")) == nil)
        }
    }

    @Test func `a certificate is good according to OCSP`() async throws {
        try await withServer(.ok(ForgedResponse().der())) { server in
            #expect(try await Self.verdict(.responder, at: server.url("/ocsp")) == nil)
            let request = try #require(server.requests.first)
            #expect(request.hasPrefix("POST /ocsp HTTP/1.1\r\n"))
            #expect(request.contains("\r\nContent-Type: application/ocsp-request\r\n"))
            #expect(request.contains("\r\nAccept: application/ocsp-response\r\n"))
        }
    }

    @Test(arguments: [(Kind.responder, ForgedResponse.revoked().der()), (.list, ForgedList.revoking().der())])
    func `a certificate is revoked according to OCSP or a list`(kind: Kind, data: [UInt8]) async throws {
        try await withServer(.ok(data)) { server in
            guard case .revoked(_, let record)? = try await Self.verdict(kind, at: server.url()) else {
                Issue.record("not revoked")
                return
            }
            #expect("\(record.source)".contains(server.url()))
        }
    }

    @Test func `a certificate is good according to a list`() async throws {
        try await withServer(.ok(ForgedList().der())) { server in
            let verdict = try await Self.verdict(.list, at: server.url("/list"))
            #expect(verdict == nil)
            #expect(server.requests.first?.hasPrefix("GET /list HTTP/1.1\r\n") == true)
        }
    }

    @Test(arguments: [404, 500, 503, 204, 301])
    func `a status other than 200 is a problem`(_ status: Int) async throws {
        let reply = Reply("HTTP/1.1 \(status) No\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n")
        #expect(try await Self.problem(.responder, reply) == .httpStatus(status))
        #expect(try await Self.problem(.list, reply) == .httpStatus(status))
    }

    @Test func `an endless response is refused`() async throws {
        let pieces = ["HTTP/1.1 200 OK\r\n\r\n", String(repeating: "x", count: 4096)].map { Array($0.utf8) }
        let reply = Reply(pieces: pieces, then: .endless)
        var settings = RevocationSettings()
        // 8 MiB may take long on a slow machine.
        settings.timeLimit = .seconds(300)
        #expect(try await Self.problem(.responder, reply, settings: settings) == .tooLarge(limit: 64 << 10))
        #expect(try await Self.problem(.list, reply, settings: settings) == .tooLarge(limit: 8 << 20))
    }

    @Test func `a slow response ends at the time limit`() async throws {
        var settings = RevocationSettings()
        settings.timeLimit = .milliseconds(200)
        let problem = try await Self.problem(.responder, .silence, settings: settings)
        #expect(problem == .timedOut(.milliseconds(200)))
        let half = Reply("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\nhalf")
        #expect(try await Self.problem(.list, half, settings: settings) == .timedOut(.milliseconds(200)))
    }

    @Test func `a malformed response is a problem`() async throws {
        #expect(caseName(try await Self.problem(.responder, .ok("<html>"))) == "malformed")
        let cause = Self.cause(try await Self.problem(.responder, Reply("garbage\r\n\r\n")))
        #expect(cause?.contains("not HTTP/1.1") == true)
    }

    @Test func `a refused connection is a problem`() async throws {
        let taken = try ScriptedServer.unreachable(.closed)
        let url = "http://127.0.0.1:\(taken.port)/"
        let cause = Self.cause(Self.problem(try await Self.verdict(.responder, at: url)))
        #expect(cause == "POST \(url): cannot connect to 127.0.0.1 at port \(taken.port): Connection refused")
        withExtendedLifetime(taken) {}
    }

    @Test func `an HTTPS responder must be trusted`() async throws {
        let reply = Reply.ok(ForgedResponse().der())
        try await withServer(reply, tls: try HTTPWorld.serverContext()) { server in
            let verdict = try await Self.verdict(.responder, at: server.url())
            #expect(verdict == nil)
        }
        try await withServer(reply, tls: try HTTPWorld.serverContext([World.strangeLeaf])) { server in
            let cause = Self.cause(Self.problem(try await Self.verdict(.responder, at: server.url())))
            #expect(cause?.contains("is not trusted") == true)
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `the revocation of a responder's own certificate is not checked`() async throws {
        // The responder's server names itself as responder. Without this rule its check would never end.
        let tls = try HTTPWorld.serverContext()
        try await withServer(.ok(ForgedResponse().der()), tls: tls) { server in
            var configuration = HTTPWorld.configuration
            configuration.revocation = RevocationChecker(
                fetcher: try HTTPRevocationFetcher(configuration: HTTPWorld.configuration, allowsLocalAddresses: true)
            )
            let fetcher = try HTTPRevocationFetcher(configuration: configuration, allowsLocalAddresses: true)
            let leaf = RevocationWorld.leaf(responders: [server.url()])
            let checker = RevocationChecker(fetcher: fetcher)
            let trust = try ServerTrust([leaf], anchors: [RevocationWorld.authority], revocation: checker)
            try await RevocationTrustEvaluator(options: .any).evaluateOnline(trust, forHost: World.host)
            #expect(server.requests.count == 1)
        }
    }
}
