import Logging
import ServerTrust
import Testing
import TrustForge

/// The choice of the evaluator for a host, and hosts without an evaluator.
@Suite struct ManagerTests {
    /// An evaluator that refuses with its name as the reason.
    private struct Named: ServerTrustEvaluating {
        let name: String

        func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
            throw ServerTrustError(reason: .custom(name), host: host)
        }
    }

    private static func manager(_ patterns: String..., all: Bool = true) -> ServerTrustManager {
        let evaluators = patterns.map { ($0, Named(name: $0) as any ServerTrustEvaluating) }
        return ServerTrustManager(
            allHostsMustBeEvaluated: all,
            evaluators: Dictionary(evaluators) { first, _ in first }
        )
    }

    private static func reason(_ manager: ServerTrustManager, _ host: String) throws -> TrustFailure? {
        let trust = try TrustCase("any") { _ in }.trust()
        do throws(ServerTrustError) {
            try manager.evaluate(trust, forHost: host)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test(arguments: [
        ("a.b.example.com", "a.b.example.com"), ("c.b.example.com", "*.b.example.com"),
        ("b.example.com", "**.b.example.com"),
        ("d.c.b.example.com", "**.b.example.com"), ("x.example.com", "*.example.com"),
        ("x.y.example.com", "**.example.com"),
        ("example.com", "**.example.com"), ("192.0.2.1", "192.0.2.1"), ("A.B.Example.COM.", "a.b.example.com"),
    ])
    func `the most specific pattern determines the evaluator`(_ host: String, _ pattern: String) throws {
        let manager = Self.manager(
            "**.example.com",
            "*.example.com",
            "**.b.example.com",
            "*.b.example.com",
            "a.b.example.com",
            "192.0.2.1"
        )
        #expect(try Self.reason(manager, host) == .custom(pattern))
    }

    @Test(arguments: [
        ("example.com", "EXAMPLE.com"), ("example.com", "example.com."),
        ("*.b\u{fc}cher.example", "*.xn--bcher-kva.example"),
        ("::1", "[0:0::1]"),
    ])
    func `two patterns for the same hosts refuse every server`(_ one: String, _ other: String) throws {
        let first = min(one, other)
        let expected = TrustFailure.equalPatterns(first, first == one ? other : one)
        #expect(try Self.reason(Self.manager(one, other), "example.org") == expected)
        let policies = ServerTrustPolicyManager(policies: [one: .disableEvaluation, other: .disableEvaluation])
        let policy = try #require(policies.serverTrustPolicy(forHost: "example.org"))
        #expect(!policy.evaluate(try TrustCase("any") { _ in }.trust(), forHost: "example.org"))
    }

    @Test(arguments: ["Example.ORG.", "example.org"])
    func `the lookup receives the canonical host`(host: String) throws {
        let manager = ServerTrustManager(evaluators: [:], lookup: { $0 == "example.org" ? Named(name: "found") : nil })
        #expect(try Self.reason(manager, host) == .custom("found"))
        let policies = ServerTrustPolicyManager(
            policies: [:],
            lookup: { $0 == "example.org" ? .disableEvaluation : nil }
        )
        #expect(policies.serverTrustPolicy(forHost: host) != nil)
    }

    /// The evaluator would trust every server, but the task was cancelled.
    @Test func `a cancelled evaluation does not pass`() async throws {
        let trust = try TrustCase("any") { _ in }.trust()
        let manager = ServerTrustManager(evaluators: [World.host: DisabledTrustEvaluator()])
        let verdict = Task<TrustFailure?, Never> {
            withUnsafeCurrentTask { $0?.cancel() }
            do throws(ServerTrustError) {
                try await manager.evaluateOnline(trust, forHost: World.host)
                return nil
            } catch {
                return error.reason
            }
        }
        #expect(await verdict.value == .cancelled)
    }

    @Test func `text of a server is escaped and truncated in an error`() {
        let failure = TrustFailure.hostMismatch(names: Array(repeating: "\u{1b}[2J\u{7}\n\u{202e}", count: 10_000))
        let text = ServerTrustError(reason: failure, host: "a\u{1b}b").description
        #expect(text.hasPrefix("the server of a\\u{1b}b is not trusted: the certificate is for \\u{1b}[2J\\u{7}\\u{a}"))
        #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202e })
        #expect(text.count < 2200)
    }

    @Test func `a host without an evaluator is refused`() throws {
        #expect(try Self.reason(Self.manager("example.com"), "example.org") == .noEvaluator)
        #expect(try Self.reason(Self.manager(), "example.org") == .noEvaluator)
        let error = #expect(throws: ServerTrustError.self) {
            try Self.manager().serverTrustEvaluator(forHost: "example.org")
        }
        #expect(error?.host == "example.org")
    }

    @Test func `a host without an evaluator is evaluated by default if not all hosts must be evaluated`() throws {
        let manager = Self.manager("example.com", all: false)
        #expect(try manager.serverTrustEvaluator(forHost: "example.org") == nil)
        #expect(try Self.reason(manager, "example.org") == nil)
        #expect(try Self.reason(manager, "example.net") == .hostMismatch(names: ["example.org"]))
    }

    @Test func `an invalid pattern refuses all hosts`() throws {
        let manager = Self.manager("example.com", "*example.org", all: false)
        for host in ["example.com", "example.org", "example.net"] {
            #expect(try Self.reason(manager, host) == .invalidPattern("*example.org"))
        }
    }

    @Test func `the lookup takes precedence over the evaluators`() throws {
        let manager = ServerTrustManager(evaluators: ["example.org": Named(name: "table")]) { host in
            host.hasPrefix("special") ? Named(name: "lookup") : nil
        }
        #expect(try Self.reason(manager, "special.example") == .custom("lookup"))
        #expect(try Self.reason(manager, "example.org") == .custom("table"))
        #expect(try Self.reason(manager, "example.net") == .noEvaluator)
    }

    @Test func `asynchronous evaluation uses the same rules`() async throws {
        let trust = try TrustCase("any") { _ in }.trust()
        await #expect(throws: ServerTrustError(reason: .noEvaluator, host: "example.org")) {
            try await Self.manager().evaluateOnline(trust, forHost: "example.org")
        }
        try await Self.manager(all: false).evaluateOnline(trust, forHost: "example.org")
    }

    @Test func `a policy manager returns the policy of the matching pattern or of the lookup`() throws {
        let manager = ServerTrustPolicyManager(
            policies: [
                "*.example.org": .performDefaultEvaluation(validateHost: true), "example.org": .disableEvaluation,
            ]
        ) { $0 == "x" ? .disableEvaluation : nil }
        guard case .performDefaultEvaluation = manager.serverTrustPolicy(forHost: "a.example.org") else {
            Issue.record("a.example.org has another policy")
            return
        }
        guard case .disableEvaluation = manager.serverTrustPolicy(forHost: "x") else {
            Issue.record("the lookup was not called")
            return
        }
        #expect(manager.serverTrustPolicy(forHost: "a.b.example.org") == nil)
        let trust = try TrustCase("any") { _ in }.trust()
        let broken = ServerTrustPolicyManager(policies: ["*": .disableEvaluation])
        #expect(broken.serverTrustPolicy(forHost: "example.org")?.evaluate(trust, forHost: "example.org") == false)
        #expect(manager.serverTrustPolicy(forHost: "a b")?.evaluate(trust, forHost: "a b") == false)
    }
}
