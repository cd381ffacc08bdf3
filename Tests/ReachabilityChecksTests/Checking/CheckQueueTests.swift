import LinuxSupport
import NetworkLab
import NetworkReachability
import Testing

@testable import ReachabilityChecks

/// Reports of many targets, compared with the checks of each target alone.
@Suite struct CheckQueueTests {
    /// Provides a line with a host that answers echoes, accepts connections, and answers requests depending on their path.
    private func withLine(_ body: (ProbedLine, CheckOptions) async throws -> Void) async throws {
        let line = try await ProbedLine.make(.ipv4)
        defer { line.close() }
        // Without this limit, two consecutive checks have the same results.
        for station in [line.gateway, line.provider] { try station.sysctl("net.ipv4.icmp_ratelimit", "0") }
        try line.provider.ip("route add blackhole 198.18.0.0/15")
        let servers = try await LabThread.detached {
            (try EchoServer(in: [line.provider]), try Self.server(in: line.provider))
        }
        defer {
            servers.0.stop()
            servers.1.stop()
        }
        var options = CheckOptions()
        options.networkNamespace = .path(line.pc.path)
        options.family = .ipv4
        options.nameServers = []
        // A busy machine delays probes by seconds.
        options.timeLimit = .seconds(15)
        try await body(line, options)
    }

    private static func server(in namespace: LabNamespace) throws -> ScriptedServer {
        let answers = [
            "/": "302 Found\r\nLocation: http://portal.example/\r\nContent-Length: 0\r\n\r\n",
            "/plain": "204 No Content\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n",
            "/moved": "301 Moved\r\nLocation: /there\r\nContent-Length: 2\r\n\r\nhi",
            "/chunked": "200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            "/ill": "503 Not Now\r\nContent-Length: 0\r\n\r\n",
        ]
        let (addresses, port) = (ScriptedServer.anyAddress, ScriptedServer.labPort)
        return try ScriptedServer(in: namespace, at: addresses, port: port) { request in
            if request.target == "/strange" { return ScriptedReply("SSH-2.0-strange\r\n") }
            return answers[request.target].map { ScriptedReply("HTTP/1.1 \($0)") } ?? .silence
        }
    }

    private static func targets() throws -> [CheckTarget] {
        let (host, web) = (ProbedLine.world(.ipv4), "http://\(ProbedLine.world(.ipv4)):\(ScriptedServer.labPort)")
        return try [
            "icmp://\(host)", "tcp://\(host):\(EchoServer.port)", "tcp://\(host):9", "\(host):\(EchoServer.port)", host,
            "\(web)/plain", "\(web)/moved", "\(web)/chunked", "\(web)/ill", "\(web)/strange", "\(web)/silent",
            "http://\(host):9/", "icmp://10.1.0.2", "icmp://\(ProbedLine.direction(.ipv4))",
            "tcp://\(ProbedLine.direction(.ipv4)):80", "http://\(ProbedLine.direction(.ipv4))/", "icmp://fd77::10",
        ].map { text throws(CheckInputError) in try CheckTarget(text) }
    }

    /// Returns the reports of targets that are checked together, by their numbers.
    private static func reports(
        of targets: [CheckTarget],
        _ options: CheckOptions,
        rate: Int = 1_000_000
    ) async throws -> [Int: CheckReport] {
        let reports = Locked<[Int: CheckReport]>([:])
        try await NetworkCheck.run(targets, options, rate: rate) { number, report in
            let earlier = reports.withLock { $0.updateValue(report, forKey: number) }
            #expect(earlier == nil)
        }
        return reports.withLock(\.self)
    }

    /// The parts of a report that do not vary.
    private struct Word: Equatable, CustomStringConvertible {
        let description: String

        init(_ report: CheckReport) {
            let verdict = report.verdict
            // A cancelled probe has a cost and no result. The order of three parallel probes is random, and a busy machine sends an
            // additional echo. Large packets are sent only to a single target.
            let decisive = report.evidence.target?.decisive
            let own = report.allProbes.filter { probe in
                probe.result.isTarget && probe.outcome != .cancelled && probe.result.request.size == nil
                    && (probe.kind == decisive || probe.kind == .mtu)
            }
            let probes = own.map { probe in
                "\(probe.kind) \(probe.destination?.description ?? "-"):\(probe.port ?? 0) \(probe.outcome) "
                    + "\(probe.reason?.rawValue ?? "-") \(probe.error.map { "\($0.sender)" } ?? "-") "
                    + "\(probe.phases.keys.map(\.rawValue).sorted()) \(probe.failedPhase?.rawValue ?? "-") "
                    + "\(probe.status ?? 0) \(probe.location ?? "-") \(probe.replyHopLimit ?? 0) "
                    + "\(probe.pathMTU ?? 0) \(probe.clockOffset != nil)"
            }
            description =
                "\(report.target ?? "-"): \(verdict.failurePoint) \(verdict.reason.rawValue) \(verdict.confidence) "
                + "\(verdict.text) \(verdict.notes) \(report.path) \(report.path.generation) \(probes.sorted())"
        }
    }

    @Test func `each target has the same report as if it was checked alone`() async throws {
        try await withLine { line, options in
            let targets = try Self.targets()
            let together = try await Self.reports(of: targets, options)
            #expect(together.count == targets.count)
            try await withThrowingTaskGroup(of: (Int, CheckReport?).self) { group in
                for (number, target) in targets.enumerated() {
                    group.addTask { (number, try await Self.reports(of: [target], options)[0]) }
                }
                for try await (number, alone) in group {
                    #expect(Word(try #require(together[number])) == Word(try #require(alone)))
                }
            }
            #expect(together.values.allSatisfy { $0.duration > .zero && $0.cost.packets > 0 })
            #expect(together.values.count { $0.verdict.failurePoint == .works } == 8)
        }
    }

    @Test func `a working target is probed once, and a broken one as often as if it was checked alone`() async throws {
        try await withLine { line, options in
            let host = ProbedLine.world(.ipv4)
            let targets = try [host, "icmp://\(host)", "tcp://\(host):\(EchoServer.port)", "tcp://\(host):9"].map {
                text throws(CheckInputError) in try CheckTarget(text)
            }
            // On a busy machine an answer may take longer than the pauses before additional probes.
            var options = options
            options.pauses = .init(targetsFirst: .seconds(60), companions: .seconds(60))
            let reports = try await Self.reports(of: targets, options)
            let counts = reports.values.map { $0.allProbes.count { $0.result.isTarget && $0.result.kind != .mtu } }
            #expect(counts == [1, 1, 1, 1])
        }
    }

    @Test func `without permission for echoes another answer shows that a host is alive`() async throws {
        try await withLine { line, options in
            try line.pc.sysctl("net.ipv4.ping_group_range", "1 0")
            // A host sends a burst of fifty such errors, and few more.
            let targets = try (0..<30).map { number in
                try CheckTarget(number % 2 == 0 ? "icmp://\(ProbedLine.world(.ipv4))" : ProbedLine.world(.ipv4))
            }
            let reports = try await Self.reports(of: targets, options, rate: 200)
            let alone = try #require(try await Self.reports(of: [targets[0]], options)[0])
            #expect(alone.verdict.failurePoint == .works)
            for report in reports.values where report.target == alone.target { #expect(Word(report) == Word(alone)) }
            #expect(reports.values.allSatisfy { $0.verdict.failurePoint == .works })
        }
    }

    @Test(.enabled(if: hasPacketFilter, "there is no nft"), arguments: AddressFamily.allCases)
    func `without permission for echoes a host that sends no ICMP errors is alive`(family: AddressFamily) async throws {
        try await withLine { line, options in
            try line.pc.sysctl("net.ipv4.ping_group_range", "1 0")
            let rules = """
                table inet t { chain c { type filter hook output priority 0;
                icmp type destination-unreachable drop; icmpv6 type destination-unreachable drop; }; }
                """
            let result = try line.provider.run("nft", ["-f", "-"], input: rules)
            #expect(result.status == 0, "\(result.errors)")
            let target = try CheckTarget("icmp://\(ProbedLine.world(family))")
            var options = options
            options.family = .init(family)
            let engine = CheckEngine(options)
            // The first check shows that echoes are not permitted.
            for _ in 0..<2 {
                let verdict = try await engine.check(target, .fresh)?.verdict
                #expect(verdict?.reason == .targetAnswers, "\(String(describing: verdict))")
            }
        }
    }

    private static let hasPacketFilter = (try? LabProcess("nft", ["--version"]).wait().status) == 0

    @Test func `behind an interception the answers of many targets are not trusted`() async throws {
        try await withLine { line, options in
            guard LabNamespace.hasPacketFilter else { return }
            try line.provider.filter("prerouting", "tcp dport 80 redirect to :\(ScriptedServer.labPort)", type: "nat")
            let targets = try (1...80).map { try CheckTarget("http://198.18.0.\($0)/plain") }
            // The route of the packets is changed.
            try line.provider.ip("route del blackhole 198.18.0.0/15")
            let reports = try await Self.reports(of: targets, options)
            #expect(reports.count == 80 && reports.values.allSatisfy { $0.verdict.failurePoint == .portal })
            let alone = try #require(try await Self.reports(of: [targets[0]], options)[0])
            #expect(reports[0]?.verdict.reason == alone.verdict.reason)
        }
    }

    @Test func `anchors are probed once for all targets`() async throws {
        try await withLine { line, options in
            var options = options
            options.anchors = [try CheckOptions.Anchor("http://198.18.0.9/")]
            options.timeLimit = .seconds(15)
            let host = ProbedLine.world(.ipv4)
            let targets = try (0..<70).map { _ in try CheckTarget("icmp://\(host)") }
            let reports = try await Self.reports(of: targets, options)
            #expect(reports.count == 70)
            #expect(
                reports.values.allSatisfy { report in
                    report.verdict.failurePoint == .works && report.probes.contains(where: \.isAnchor)
                }
            )
        }
    }

    @Test func `many targets are started at the requested rate`() async throws {
        try await withLine { _, options in
            let targets = try (1...20).map { _ in try CheckTarget("icmp://\(ProbedLine.world(.ipv4))") }
            // The probe for interception runs meanwhile.
            let begun = ContinuousClock.now
            let reports = try await Self.reports(of: targets, options, rate: 10)
            #expect(reports.count == 20 && .now - begun >= .milliseconds(1900))
        }
    }

    @Test func `a cancelled run reports each target and ends immediately`() async throws {
        try await withLine { line, options in
            let targets = try (0..<600).map { try CheckTarget("icmp://198.18.\($0 / 200).\($0 % 200 + 1)") }
            let reports = Locked(0)
            let round = Task {
                try await NetworkCheck.run(targets, options, rate: 300) { _, _ in reports.withLock { $0 += 1 } }
            }
            // Some targets have a running probe, some have a round, and some are not started.
            try await waitUntil { try await line.isAsking }
            round.cancel()
            try await round.value
            #expect(reports.withLock { $0 } == 600)
        }
    }

    @Test func `only changed paths are returned as changed`() async throws {
        try await withLine { line, options in
            let site = try CheckSite(options, gate: ProbeGate())
            let addresses = try ["203.0.113.7", "198.18.0.1", "10.1.0.1"].map { try #require(IPAddress($0)) }
            let paths = site.paths(to: addresses).compactMap(\.self)
            #expect(paths.map(\.destination) == addresses)
            for (address, path) in zip(addresses, paths) {
                let alone = try site.prober(to: address).path
                #expect(path.isSame(as: alone) && path.generation == 1)
            }
            #expect(site.pathsNow(paths).map { $0?.gateway } == paths.map(\.gateway))
            try line.pc.ip("route replace 198.18.0.1 via 10.1.0.1 src 10.1.0.3", "route add blackhole 203.0.113.7")
            let now = site.pathsNow(paths)
            #expect(now[0]?.status == .notReachable)
            #expect(now[1]?.source?.description == "10.1.0.3")
            #expect(now[2]?.status.isReachable == true)
        }
    }
}

extension ProbedLine {
    /// Returns whether echoes of the machine are in progress.
    fileprivate var isAsking: Bool {
        get async throws {
            try await pc.perform {
                (TextFile.read("/proc/thread-self/net/icmp") ?? "").split(separator: "\n").count > 1
            }
        }
    }
}
