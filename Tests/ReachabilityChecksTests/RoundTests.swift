import LinuxSupport
import NetworkLab
import NetworkReachability
import Testing

@testable import ReachabilityChecks

/// The duration, the packets and the sockets of a whole round.
@Suite struct RoundTests {
    /// Provides a line with both families and a name server behind the provider.
    private func withLine(
        _ behaviour: NameServer.Behaviour = .well,
        at addresses: [String] = [ProbedLine.world(.ipv4)],
        breaking: @escaping @Sendable (ProbedLine) throws -> Void = { _ in },
        _ body: (ProbedLine, CheckOptions) async throws -> Void
    ) async throws {
        let line = try await ProbedLine.make(.ipv4, .ipv6)
        defer { line.close() }
        let server = try await LabThread.detached {
            try NameServer(in: line.provider, at: addresses, zone: Self.zone, behaviour)
        }
        defer { server.stop() }
        try await LabThread.detached { try breaking(line) }
        var options = CheckOptions()
        options.networkNamespace = .path(line.pc.path)
        options.nameServers = addresses.compactMap { IPAddress($0) }
        try await body(line, options)
    }

    private static let zone = ["ipv4only.arpa": ["192.0.0.170", "192.0.0.171"]]

    // MARK: Time

    // Each duration is compared with a control of the same run, because a busy machine makes both longer.

    @Test(arguments: [
        NameServer.Behaviour.silent, .slow(.milliseconds(450)), .truncated(streams: .silent), .old,
    ])
    func `a round ends when its time limit has passed`(behaviour: NameServer.Behaviour) async throws {
        let control = try await duration(of: .well)
        // A round that ignores its limit waits 2.7 s longer for the gateway.
        let limit = control + .milliseconds(2000)
        #expect(try await duration(of: behaviour, attempts: 6, until: limit) < limit, "control: \(control)")
    }

    /// Returns the shortest duration of some rounds with a time limit of 500 ms. Stops as soon as one is below `limit`.
    private func duration(
        of behaviour: NameServer.Behaviour,
        attempts: Int = 1,
        until limit: Duration = .zero
    ) async throws -> Duration {
        var shortest: Duration?
        try await withLine(behaviour, breaking: { try LabRow.forward(behaviour == .silent, in: $0.gateway) }) {
            line,
            options in
            var options = options
            options.timeLimit = .milliseconds(500)
            options.anchors = [try CheckOptions.Anchor("http://198.18.0.9/")]
            for _ in 0..<attempts where shortest.map({ $0 >= limit }) ?? true {
                let duration = try await line.round(options).duration
                shortest = min(shortest ?? duration, duration)
            }
        }
        return try #require(shortest)
    }

    @Test(arguments: [NameServer.Behaviour.old, .truncated(streams: .silent)])
    func `a repeated question keeps the time limit of the first`(behaviour: NameServer.Behaviour) async throws {
        let control = try await durationOfQuestion(to: .silent)
        var slow = behaviour
        slow.delay = .milliseconds(1800)
        // A repetition with its own limit ends 1.6 s later.
        let limit = control + .milliseconds(800)
        #expect(try await durationOfQuestion(to: slow, attempts: 6, until: limit) < limit, "control: \(control)")
    }

    /// Returns the shortest duration of some questions with a time limit of 2 s. Stops as soon as one is below `limit`.
    private func durationOfQuestion(
        to server: NameServer.Behaviour,
        attempts: Int = 1,
        until limit: Duration = .zero
    ) async throws -> Duration {
        var shortest: Duration?
        try await withLine(server) { line, _ in
            let question = DNSQuestion(try #require(DNSName("ipv4only.arpa")), .a, identifier: 7)
            let prober = try line.prober(.ipv4)
            for _ in 0..<attempts where shortest.map({ $0 >= limit }) ?? true {
                let begun = ContinuousClock.now
                _ = await prober.query(Situation.host, .known, question, limit: .seconds(2))
                let duration = ContinuousClock.now - begun
                shortest = min(shortest ?? duration, duration)
            }
        }
        return try #require(shortest)
    }

    // MARK: Packets

    @Test(arguments: [false, true])
    func `a metered round needs at most twelve packets`(hasAnchor: Bool) async throws {
        let breakings: [@Sendable (ProbedLine) throws -> Void] = [
            { _ in }, { try LabRow.forward(false, in: $0.gateway) },
            { try $0.gateway.ip("-4 route del default", "-6 route del default") },
            { try $0.gateway.ip("addr flush dev g0") },
        ]
        for breaking in breakings {
            let servers = [ProbedLine.world(.ipv4), ProbedLine.world(.ipv6)]
            try await withLine(at: servers, breaking: breaking) { line, options in
                var options = options
                options.anchors = try ["https://192.0.2.9/", "http://203.0.113.7:81/", "http://203.0.113.7:82/"].map {
                    try CheckOptions.Anchor($0)
                }
                options = options.metered(1)
                #expect(options.anchors.map(\.url.port) == [82])
                if !hasAnchor { options.anchors = [] }
                // A machine that stalls repeats a question whose answer has arrived meanwhile.
                var evidence = try await line.round(options).evidence
                for _ in 0..<30 where !Self.isThrifty(evidence, hasAnchor) {
                    evidence = try await line.round(options).evidence
                }
                #expect(Self.isThrifty(evidence, hasAnchor), "\(evidence.results)")
                #expect(evidence.servers?.count == 1)
                #expect(evidence.results.allSatisfy { $0.server.map { $0 == Situation.host } ?? true })
            }
        }
    }

    private static func isThrifty(_ evidence: CheckEvidence, _ hasAnchor: Bool) -> Bool {
        let cost = evidence.results.reduce(ProbeCost()) { $0 + $1.cost }
        return hasAnchor ? cost.bytes <= 4096 : cost.packets <= 12
    }

    @Test func `concurrent rounds share probes and the error limits of routers`() async throws {
        try await withLine(breaking: { try LabRow.forward(false, in: $0.gateway) }) { line, options in
            var options = options
            options.timeLimit = .milliseconds(1500)
            // On a busy machine the rounds may be seconds apart, and the limit is three errors in three seconds.
            let gate = ProbeGate(rate: 1000, burst: 1000) { .zero }
            let site = try CheckSite(options, gate: gate)
            let results = await withTaskGroup(of: [ProbeResult].self) { group in
                for _ in 0..<3 {
                    group.addTask {
                        let nonce = Nonce { 7 }
                        return await LineRound(site: site, nonce: nonce).run().results
                    }
                }
                return await group.reduce(into: []) { $0 += $1 }
            }
            // In each family, three rounds cause as many errors as one.
            for family in AddressFamily.allCases {
                let sent = results.filter {
                    $0.request.binding.family == family && ($0.kind == .hop || $0.kind == .gateway)
                        && $0.request.destination?.isIPv6 == (family == .ipv6) && $0.cost.packets > 0
                }
                let errors = sent.filter { $0.request.limit > .zero && $0.outcome != .answered }
                #expect(errors.count <= 3, "\(errors)")
            }
            #expect(results.count(where: { $0.kind == .hop }) == 3 * 2, "each round has the results of all")
            #expect(gate.figures.started >= 3 * 2)
        }
    }

    // MARK: Contacted hosts

    @Test func `an invented address is contacted only if it is the gateway or a neighbour`() async throws {
        for (address, isAsked) in [("203.0.113.7", false), ("10.1.0.1", true), ("10.1.0.77", true)] {
            try await withLine(.invents(address)) { line, options in
                var options = options
                options.family = .ipv4
                options.anchors = [try CheckOptions.Anchor("http://198.18.0.9/")]
                func isAnswered(_ results: [ProbeResult]) -> Bool {
                    results.contains { $0.purpose == .invented && $0.outcome == .answered }
                }
                func pages(_ results: [ProbeResult]) -> [ProbeResult] {
                    results.filter { $0.request.subject == .inventedAddress }
                }
                // The answer of a busy machine may arrive after the round.
                var results = try await line.round(options).evidence.results
                for _ in 0..<30 where !isAnswered(results) || isAsked && pages(results).isEmpty {
                    results = try await line.round(options).evidence.results
                }
                #expect(pages(results).isEmpty != isAsked, "\(address): \(results)")
                #expect(isAnswered(results))
            }
        }
    }

    @Test func `a page at the address of an invented name alone is no portal`() async throws {
        try await withLine { line, options in
            let site = try CheckSite(options, gate: ProbeGate())
            let binding = ProbeBinding(family: .ipv4)
            var evidence = CheckEvidence(site)
            let asked = ProbeRequest(.http, .anchor("a.example"), binding: binding)
            var anchor = ProbeResult(asked, generation: 1, .answered)
            anchor.evidence.tls = TLSFacts(isVerified: true)
            var page = ProbeResult(ProbeRequest(.http, .inventedAddress, binding: binding), generation: 1, .answered)
            page.evidence.http = HTTPFacts(status: 200)
            evidence.results = [anchor, page]
            evidence.anchors = ["a.example"]
            let report = CheckReport(evidence, of: site, begun: .now)
            #expect(report.verdict.failurePoint != .portal)
            #expect(!report.steps.contains { $0.summary.contains("in place of other hosts") }, "\(report.steps)")
            // Without proof of internet access it is a portal.
            evidence.results = [page]
            let portal = CheckReport(evidence, of: site, begun: .now)
            #expect(portal.verdict.failurePoint == .portal)
            #expect(portal.steps.contains { $0.summary.contains("a device answers in place of other hosts") })
        }
    }

    /// The order of two answers of a name server is random.
    @Test func `the captive portal API is queried at an address with a path`() async throws {
        try await withLine(breaking: { try $0.pc.sysctl("net.ipv6.conf.all.disable_ipv6", "1") }) { line, options in
            var options = options
            options.portalAPI = try CheckOptions.Anchor("https://portal.example/")
            options.resolutions = ["portal.example": ["fd77::10", "203.0.113.7"].compactMap { IPAddress($0) }]
            let asked = try await line.round(options).evidence.results.filter { $0.request.kind == .portalAPI }
            #expect(asked.map { $0.request.destination } == [IPAddress("203.0.113.7")])
        }
    }

    // MARK: Cancellation

    @Test func `a cancelled check ends immediately and leaves no socket`() async throws {
        try await withLine(.silent, breaking: { try LabRow.forward(false, in: $0.gateway) }) { line, options in
            let check = NetworkCheck(target: try CheckTarget("https://198.18.0.9/"), options: options)
            let start = ContinuousClock.now
            _ = try await check.run()
            let control = ContinuousClock.now - start
            var shortest = control
            for delay in [50, 300, 700, 1200] + [Int](repeating: 100, count: 16) where shortest >= control / 10 {
                let task = Task { try await check.run() }
                try await Task.sleep(for: .milliseconds(delay))
                let begun = ContinuousClock.now
                task.cancel()
                _ = try await task.value
                shortest = min(shortest, .now - begun)
            }
            #expect(shortest < control / 10, "\(shortest), without cancelling \(control)")
            // The engine's thread closes the last socket a moment later.
            try await waitUntil {
                try await line.pc.perform {
                    ["udp", "udp6", "tcp", "tcp6", "icmp", "icmp6"].allSatisfy { kind in
                        let table = TextFile.read("/proc/thread-self/net/\(kind)") ?? ""
                        return table.split(separator: "\n").count <= 1
                    }
                }
            }
        }
    }

    @Test func `the reason why a namespace cannot be entered is reported`() async throws {
        let engine = try CheckSite.engine(in: .path("/nowhere"))
        let endpoint = SocketEndpoint(WireAddress(ipv4: 0x7f00_0001), port: 9)
        let outcome = await engine.connect(StreamRequest(to: endpoint, limit: .patience))
        guard case .notSent(let error) = outcome.end else {
            Issue.record("\(outcome)")
            return
        }
        #expect(error.cause == .noEntry && ProbeOutcome(error) == .skipped(.interfaceGone))
    }
}
