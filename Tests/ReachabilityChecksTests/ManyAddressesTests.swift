import LinuxSupport
import NetworkLab
import NetworkReachability
import Testing

@testable import ReachabilityChecks

/// Hosts with several addresses, some of which do not answer.
@Suite struct ManyAddressesTests {
    private func withLine(_ body: (ProbedLine, CheckOptions) async throws -> Void) async throws {
        let line = try await ProbedLine.make(.ipv4, .ipv6)
        defer { line.close() }
        let server = try await LabThread.detached { try EchoServer(in: [line.provider]) }
        defer { server.stop() }
        var options = CheckOptions()
        options.networkNamespace = .path(line.pc.path)
        options.nameServers = []
        try await body(line, options)
    }

    private static func addresses(_ texts: [String]) -> [IPAddress] { texts.compactMap { IPAddress($0) } }

    private static let target = "tcp://many.example:\(EchoServer.port)"

    @Test(arguments: [
        ["fd98::1", "fd98::2", "fd98::3", "203.0.113.7"], ["198.18.0.1", "198.18.0.2", "198.18.0.3", "fd77::10"],
        ["fd98::1", "fd98::2", "fd98::3", "198.18.0.1", "198.18.0.2", "203.0.113.7"],
    ])
    func `a host is found at a working address after unreachable ones`(addresses: [String]) async throws {
        try await withLine { _, options in
            var options = options
            options.resolutions = ["many.example": Self.addresses(addresses)]
            options.timeLimit = .seconds(20)
            let report = try await NetworkCheck(target: CheckTarget(Self.target), options: options).run()
            #expect(report.verdict.reason == .targetAnswers, "\(report.verdict)")
        }
    }

    @Test(arguments: ["203.0.113.7", "fd77::10"])
    func `a round that begins after its deadline probes the first address`(address: String) async throws {
        try await withLine { _, options in
            var options = options
            options.resolutions = ["many.example": Self.addresses([address])]
            let late = RoundClock(limit: .seconds(5), begun: .now - .seconds(10))
            let target = try CheckTarget(Self.target)
            let site = try CheckSite(options)
            let outcome = await TargetRound(site: site, nonce: Nonce(), target: target, clock: late).run()
            #expect(outcome.results.contains { $0.kind == .tcp && $0.outcome == .answered }, "\(outcome.results)")
        }
    }

    @Test func `addresses without a path do not count against the limit`() async throws {
        try await withLine { line, options in
            // Another uplink without carrier.
            try line.pc.ip(
                "link add u0 type veth peer name u1",
                "link set u0 up",
                "addr add 10.7.0.2/24 dev u0",
                "addr add fd07::2/64 dev u0 nodad"
            )
            var options = options
            let dead = (1...20).map { "10.7.0.\($0 + 2)" } + (1...20).map { "fd07::\($0 + 2)" }
            options.resolutions = ["many.example": Self.addresses(dead + ["203.0.113.7"])]
            let report = try await NetworkCheck(target: CheckTarget(Self.target), options: options).run()
            #expect(report.verdict.reason == .targetAnswers, "\(report.verdict)")
            #expect(!report.probes.contains { $0.request.destination?.description.contains("7.0.") == true })
        }
    }

    @Test func `families alternate, and the number of probed addresses is limited`() async throws {
        try await withLine { _, options in
            let site = try CheckSite(options)
            func order(_ addresses: [String]) -> [String] {
                site.addressPaths(to: Self.addresses(addresses)).map { "\($0.address)" }
            }
            #expect(order(["fd98::1", "fd98::2", "198.18.0.1"]) == ["fd98::1", "198.18.0.1", "fd98::2"])
            #expect(order(["198.18.0.1", "198.18.0.2", "fd98::1"]) == ["198.18.0.1", "fd98::1", "198.18.0.2"])
            #expect(order((1...9).map { "198.18.0.\($0)" }).count == 8)
            #expect(order([]).isEmpty)
        }
    }

    /// An anchor that proves itself with the challenge.
    @Test(arguments: [["198.18.0.1", "203.0.113.7"], ["fd98::1", "fd77::10"], ["fd98::1", "203.0.113.7"]])
    func `an anchor proves internet access at an address after unreachable ones`(addresses: [String]) async throws {
        try await withLine { line, options in
            let anchor = try await LabThread.detached {
                try ScriptedServer(in: line.provider, at: ["203.0.113.7", "fd77::10"], port: 8090) { request in
                    .status(204, headers: [("Reachability-Response", request["Reachability-Challenge"] ?? "")])
                }
            }
            defer { anchor.stop() }
            var options = options
            options.resolutions = ["anchor.example": Self.addresses(addresses)]
            options.anchors = [try CheckOptions.Anchor("http://anchor.example:8090/204")]
            options.timeLimit = .seconds(20)
            let report = try await NetworkCheck(options: options).run()
            #expect(report.probes.contains { $0.isEchoed }, "\(report.verdict)")
        }
    }

    @Test(arguments: [
        (["fd98::1", "203.0.113.7"], ProbeReason.ipv6Broken), (["203.0.113.7", "fd98::1"], .ipv6Broken),
        (["198.18.0.1", "fd77::10"], .ipv4Broken), (["fd77::10", "198.18.0.1"], .ipv4Broken),
        (["203.0.113.7", "fd77::10"], .targetAnswers),
    ])
    func `a host that is checked repeatedly is degraded while one address family fails`(
        addresses: [String],
        expected: ProbeReason
    ) async throws {
        try await withLine { _, options in
            var options = options
            options.resolutions = ["many.example": Self.addresses(addresses)]
            options.timeLimit = .seconds(20)
            let target = try CheckTarget(Self.target)
            // A single check ends as soon as the target answers. On a busy machine the dead family may be found out before that.
            let alone = try await NetworkCheck(target: target, options: options).run().verdict
            #expect([.targetAnswers, expected].contains(alone.reason), "\(alone)")
            let engine = CheckEngine(options)
            let first = try await engine.check(target, .fresh)?.verdict
            #expect(
                first.map { [.targetAnswers, expected].contains($0.reason) } == true,
                "\(String(describing: first))"
            )
            let dead = Self.addresses(addresses).filter { ["fd98::1", "198.18.0.1"].contains("\($0)") }
            var later: CheckReport?
            let isTested = try await eventually {
                later = try await engine.check(target, .lasting)
                let asked = Set((later?.probes ?? []).filter { $0.isTarget && $0.ran }.map(\.request.binding.family))
                return asked.count == 2
            }
            #expect(isTested && later?.verdict.reason == expected, "\(String(describing: later?.verdict))")
            #expect(later?.verdict.failurePoint == (dead.isEmpty ? .works : .degraded))
            #expect(later?.verdict.decidingProbes.first?.outcome == .answered)
        }
    }

    // MARK: Large packets

    @Test(
        .enabled(if: LabNamespace.hasPacketFilter, "there is no nft"),
        arguments: AddressFamily.allCases,
        [true, false]
    )
    func `lost large packets to a target that answers are reported`(family: AddressFamily, isSilent: Bool) async throws
    {
        try await withLine { line, options in
            try line.gateway.ip("link set g1 mtu 1400")
            try line.provider.ip("link set v0 mtu 1400")
            if isSilent {
                let rules =
                    "icmp type destination-unreachable icmp code frag-needed drop; icmpv6 type packet-too-big drop"
                for station in [line.gateway, line.provider] { try station.filter("output", rules) }
            }
            let host = ProbedLine.world(family)
            let target = try CheckTarget(
                family == .ipv4 ? "tcp://\(host):\(EchoServer.port)" : "tcp://[\(host)]:\(EchoServer.port)"
            )
            let expected = isSilent ? ProbeReason.pathMTU : .targetAnswers
            let verdict = try await NetworkCheck(target: target, options: options).run().verdict
            #expect(verdict.reason == expected && verdict.failurePoint == (isSilent ? .degraded : .works), "\(verdict)")
            // Several targets, and targets that are checked repeatedly.
            let reports = Locked<[Int: CheckReport]>([:])
            try await NetworkCheck.run([target, target], options) { number, report in
                reports.withLock { $0[number] = report }
            }
            for number in [0, 1] { #expect(reports.withLock { $0[number]?.verdict.reason } == expected) }
            let engine = CheckEngine(options)
            let first = try #require(try await engine.check(target, .fresh))
            #expect(first.verdict.reason == .targetAnswers && !first.probes.contains { $0.kind == .mtu })
            var later: CheckReport?
            let isTested = try await eventually {
                later = try await engine.check(target, .lasting)
                return later?.probes.contains { $0.kind == .mtu } == true
            }
            #expect(isTested && later?.verdict.reason == expected, "\(String(describing: later?.verdict))")
            // The result stays valid, and no packet is sent for it.
            let last = try #require(try await engine.check(target, .lasting))
            #expect(last.verdict.reason == expected)
            #expect(last.probes.filter { $0.kind == .mtu }.allSatisfy { $0.cost == ProbeCost() })
            engine.forget()
            #expect(try await engine.check(target, .fresh)?.verdict.reason == .targetAnswers)
        }
    }

    @Test(arguments: AddressFamily.allCases)
    func `a target that limits its errors is not reported to lose large packets`(family: AddressFamily) async throws {
        try await withLine { line, options in
            // Without permission for echoes, the answers are errors of a closed port. Linux sends a burst of six, and then one per second.
            try line.pc.sysctl("net.ipv4.ping_group_range", "1 0")
            let host = ProbedLine.world(family)
            let target = try CheckTarget(
                family == .ipv4 ? "tcp://\(host):\(EchoServer.port)" : "tcp://[\(host)]:\(EchoServer.port)"
            )
            for _ in 0..<12 {
                let verdict = try await NetworkCheck(target: target, options: options).run().verdict
                #expect(verdict.reason == .targetAnswers, "\(verdict)")
            }
        }
    }

    // MARK: Documentation prefixes

    @Test func `the unassigned address is in a documentation prefix without a route`() async throws {
        try await withLine { line, options in
            func unassigned() throws -> [String] {
                try CheckSite(options).lines.compactMap { $0.unassigned.map { "\($0)" } }
            }
            #expect(try unassigned() == ["192.0.2.1", "2001:db8::1"])
            // A route other than a default route leads to an existing network.
            try line.pc.ip("route add 192.0.2.0/24 via 10.1.0.1", "route add 2001:db8:7::/48 via fd01::1")
            #expect(try unassigned() == ["198.51.100.1", "2001:db8::1"])
            try line.pc.ip("addr add 198.51.100.77/24 dev p0", "addr add 2001:db8:1::77/64 dev p0 nodad")
            #expect(try unassigned() == ["203.0.113.1", "3fff::1"])
            try line.pc.ip("route add 203.0.113.0/24 via 10.1.0.1", "route add 3fff::/20 via fd01::1")
            #expect(try unassigned().isEmpty)
            // Two halves of the address space are default routes.
            try line.pc.ip(
                "route del 192.0.2.0/24",
                "route del default",
                "route add 0.0.0.0/1 via 10.1.0.1",
                "route add 128.0.0.0/1 via 10.1.0.1"
            )
            #expect(try unassigned() == ["192.0.2.1"])
        }
    }
}
