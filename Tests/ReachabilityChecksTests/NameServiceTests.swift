import Glibc
import LinuxSupport
import NetworkLab
import NetworkReachability
import Testing

@testable import ReachabilityChecks

/// The configured name servers, and the results of the name service for programs.
@Suite struct NameServiceTests {
    @Test(.enabled(if: NamespaceSettings.isPermitted, "/etc is not writable"))
    func `a namespace has its own name servers`() async throws {
        try await LabThread.detached {
            let namespace = try LabNamespace()
            defer { namespace.close() }
            let name = try NamespaceName("servers-\(getpid())", for: namespace)
            let text = "nameserver 192.0.2.1\nnameserver fe80::1%eth0\n"
            let settings = try NamespaceSettings(of: name, ["resolv.conf": text])
            func servers() throws -> [String] {
                try NameServers.configured(in: .named(name.name)).servers.map(\.description)
            }
            #expect(try servers() == ["192.0.2.1", "fe80::1%eth0"])
            // The C library would query 127.0.0.1, where no server runs.
            try settings.write("search example.org\n", to: "resolv.conf")
            #expect(try servers() == [])
        }
    }

    @Test func `the servers behind a stub are queried`() throws {
        func servers(_ resolv: String, _ upstream: String?) -> NameServers {
            NameServers(ResolverConfiguration(resolv: resolv, order: nil, upstream: upstream))
        }
        let (stub, server) = (try #require(IPAddress("127.0.0.53")), try #require(IPAddress("192.0.2.1")))
        #expect(servers("nameserver 127.0.0.53\n", "nameserver 192.0.2.1\n") == NameServers([server], stub: stub))
        #expect(servers("nameserver 127.0.0.53\n", "") == NameServers([], stub: stub))
        // The upstream servers are unknown, so the stub is queried.
        #expect(servers("nameserver 127.0.0.53\n", nil) == NameServers([stub], stub: stub))
        #expect(servers("nameserver 192.0.2.1\n", "nameserver 192.0.2.2\n") == NameServers([server]))
    }

    // MARK: Programs

    private static let names = ["www.example": ["203.0.113.7", "fd77::10"], "empty.example": []]

    /// Provides a prober in a namespace with a single name server.
    private func withNames(
        _ configuration: String = "nameserver 203.0.113.7\noptions timeout:1 attempts:1\n",
        _ body: @Sendable (Prober, NameServer) async throws -> Void
    ) async throws {
        let line = try await ProbedLine.make(.ipv4)
        defer { line.close() }
        let (name, settings, server) = try await LabThread.detached {
            try line.provider.ip("route add blackhole 198.18.0.0/15")
            let name = try NamespaceName("names-\(getpid())-\(UInt32.random(in: 0 ... .max))", for: line.pc)
            let files = [
                "resolv.conf": configuration,
                "hosts": "192.0.2.9 own.example\n",
                "nsswitch.conf": "hosts: files dns\n",
            ]
            let settings = try NamespaceSettings(of: name, files)
            return (name, settings, try NameServer(in: line.provider, at: ["203.0.113.7"], zone: Self.names))
        }
        defer {
            settings.remove()
            name.remove()
            server.stop()
        }
        try await body(try line.prober(.ipv4, namespace: .named(name.name)), server)
    }

    @Test(.enabled(if: NamespaceSettings.isPermitted, "/etc is not writable"))
    func `programs get addresses, or the reason why there are none`() async throws {
        try await withNames { prober, server in
            let limit = Duration.seconds(30)
            let known = await prober.resolve("www.example", limit: limit)
            #expect(known.outcome == .answered && known.phases[.resolve] != nil)
            #expect(Set(known.evidence.addresses.map(\.description)) == ["203.0.113.7", "fd77::10"])
            #expect(await prober.resolve("nowhere.example", limit: limit).outcome == .invalid(.nameNotFound))
            #expect(await prober.resolve("empty.example", limit: limit).outcome == .invalid(.noData))
            try await LabThread.detached { try server.behave(.serverFailure) }
            #expect(await prober.resolve("www.example", limit: limit).outcome == .invalid(.temporaryFailure))
            try await LabThread.detached { try server.behave(.silent) }
            let own = await prober.resolve("own.example", limit: limit)
            #expect(own.evidence.addresses.map(\.description) == ["192.0.2.9"])
            #expect(await prober.resolve("www.example", limit: .milliseconds(50)).outcome == .silent)
            // The C library gives up after some seconds, so on a slow machine the cancellation can come too late.
            try await waitUntil { () async throws -> Bool in
                server.forgetQuestions()
                let task = Task { await prober.resolve("later.example", limit: limit) }
                try await waitUntil { !server.questions.isEmpty }
                task.cancel()
                return await task.value.outcome == .cancelled
            }
        }
    }

    @Test(.enabled(if: NamespaceSettings.isPermitted, "/etc is not writable"))
    func `a target is probed while the name service waits for a silent server`() async throws {
        try await withNames("nameserver 198.18.0.1\nnameserver 203.0.113.7\noptions timeout:30\n") { prober, _ in
            var options = CheckOptions()
            options.networkNamespace = prober.binding.namespace
            options.family = .ipv4
            options.timeLimit = .seconds(20)
            let target = try CheckTarget("tcp://www.example:9")
            let verdict = try await NetworkCheck(target: target, options: options).run().verdict
            #expect(verdict.failurePoint == .service && verdict.reason == .refused, "\(verdict)")
        }
    }

    // MARK: Verdicts

    private static let web = CheckTarget("https://www.example.org", name: "www.example.org", decisive: .http)

    @Test func `a name in a file needs no name server`() {
        let known = Situation(Self.web).gateway(.answered).hop().verified().target(.resolve, .answered)
        let silent = known.server(.silent).target(.http, .silent).verdict
        #expect(silent.failurePoint == .host, "\(silent)")
        let denied = known.server().asked(.target, code: .nameError).target(.http, .silent).verdict
        #expect(denied.failurePoint == .host, "\(denied)")
        let none = known.changed { $0.evidence.servers = [] }.target(.http, .silent).verdict
        #expect(none.failurePoint == .host, "\(none)")
    }

    @Test func `a server that answers another question is not silent`() {
        let lossy = Situation().allWell.changed { $0.evidence.results.removeAll { $0.kind == .dns } }.server(.silent)
        #expect(lossy.verdict.failurePoint == .dns)
        let verdict = lossy.asked(.known, .answered, Situation.resolver, .aaaa).verdict
        #expect(verdict.failurePoint == .works, "\(verdict)")
    }

    @Test func `an echo is not an answer to a question`() {
        let echo = Situation().allWell.server(.silent, Situation.gateway)
            .adding(.echo, .server(Situation.gateway, .known), .answered)
        #expect(echo.verdict.failurePoint == .degraded && echo.verdict.reason == .serverSilent, "\(echo.verdict)")
    }

    @Test func `a failing name service is a fault although the servers answer`() {
        let well = Situation(Self.web).allWell.asked(.target, addresses: ["203.0.113.7"])
        for (outcome, reason) in [
            (ProbeOutcome.invalid(.temporaryFailure), ProbeReason.temporaryFailure), (.silent, .temporaryFailure),
            (.invalid(.nameNotFound), .nameNotFound),
        ] {
            let verdict = well.target(.resolve, outcome).verdict
            #expect(
                verdict.failurePoint == .dns && verdict.reason == reason && verdict.confidence == .likely,
                "\(verdict)"
            )
        }
        // An address alone is no sign of a live host.
        #expect(well.target(.resolve, .answered).target(.http, .silent).verdict.failurePoint == .host)
    }
}
