import LinuxSupport
import NetworkLab
import Testing

@testable import ReachabilityChecks

/// Private rounds on a real line, on which packets prove the fault.
@Suite struct PrivateRoundTests {
    /// Breaks a line, and proves with a packet that it is broken or not before the verdict.
    private func check(
        _ family: AddressFamily,
        works: Bool = false,
        asNobody: Bool = false,
        breaking: @escaping @Sendable (ProbedLine) throws -> Void
    ) async throws -> (verdict: CheckVerdict, results: [ProbeResult]) {
        let line = try await ProbedLine.make(family)
        defer { line.close() }
        try await LabThread.detached { try breaking(line) }
        #expect(try await line.carriesPackets(family, expecting: works) == works)
        return try await line.check(family, asNobody: asNobody)
    }

    @Test(arguments: AddressFamily.allCases)
    func `a provider that answers works`(family: AddressFamily) async throws {
        let (verdict, results) = try await check(family, works: true) { _ in }
        #expect(verdict.failurePoint == .works && verdict.reason == .upstreamAnswers, "\(results)")
        #expect(results.count == 5)
        let hop = try #require(results.first { $0.request.kind == .hop })
        #expect(hop.evidence.source?.description == (family == .ipv4 ? "10.9.0.2" : "fd09::2"))
        #expect(results.reduce(0) { $0 + $1.cost.packets } <= 20)
    }

    @Test(arguments: AddressFamily.allCases)
    func `a gateway without a route reports the upstream fault`(family: AddressFamily) async throws {
        let option = family == .ipv4 ? "-4" : "-6"
        let (verdict, results) = try await check(family) { try $0.gateway.ip("\(option) route del default") }
        #expect(verdict.failurePoint == .upstream && verdict.reason == .noRoute, "\(results)")
        #expect(verdict.confidence == .proven && verdict.text.contains("(gateway) reports no route"), "\(verdict.text)")
    }

    @Test(arguments: AddressFamily.allCases)
    func `a gateway that prohibits reports the upstream fault`(family: AddressFamily) async throws {
        let option = family == .ipv4 ? "-4" : "-6"
        let (verdict, results) = try await check(family) {
            try $0.gateway.ip("\(option) route del default", "\(option) route add prohibit default")
        }
        #expect(verdict.failurePoint == .upstream && verdict.reason == .prohibited, "\(results)")
    }

    @Test(arguments: AddressFamily.allCases)
    func `without forwarding at the gateway the failure point is upstream`(family: AddressFamily) async throws {
        let (verdict, results) = try await check(family) { try LabRow.forward(false, in: $0.gateway) }
        #expect(verdict.failurePoint == .upstream && verdict.reason == .silentBeyond, "\(results)")
    }

    @Test(arguments: AddressFamily.allCases)
    func `a gateway that does not respond is the failure point`(family: AddressFamily) async throws {
        let (verdict, results) = try await check(family) {
            try $0.gateway.ip("addr flush dev g0")
            try $0.pc.ip("neigh flush all")
        }
        #expect(verdict.failurePoint == .gateway && verdict.reason == .neighbourFailed, "\(results)")
    }

    @Test(.enabled(if: LabThread.canBecomeNobody), arguments: AddressFamily.allCases)
    func `a user without permission for echoes finds the same places`(family: AddressFamily) async throws {
        let option = family == .ipv4 ? "-4" : "-6"
        let (good, results) = try await check(family, works: true, asNobody: true) { _ in }
        #expect(good.failurePoint == .works, "\(results)")
        #expect(results.contains { $0.outcome == .skipped(.notPermitted) })
        let lost = try await check(family, asNobody: true) { try $0.gateway.ip("\(option) route del default") }
        #expect(lost.verdict.failurePoint == .upstream && lost.verdict.reason == .noRoute, "\(lost.results)")
        let silent = try await check(family, asNobody: true) { try LabRow.forward(false, in: $0.gateway) }
        #expect(silent.verdict.failurePoint == .upstream && silent.verdict.reason == .silentBeyond, "\(silent.results)")
        // A probe that was not permitted makes conclusions from silence less certain.
        #expect(silent.verdict.confidence == .suspected)
    }

    /// Its neighbours can resolve it, and it answers no other packet.
    @Test(.enabled(if: LabNamespace.hasPacketFilter, "there is no nft"), arguments: AddressFamily.allCases)
    func `a silent gateway is made to send at most three errors`(family: AddressFamily) async throws {
        let line = try await ProbedLine.make(family)
        defer { line.close() }
        try await LabThread.detached { try Self.silence(line.gateway) }
        // The limit is three in three seconds, and a busy machine needs more for a round.
        let gate = ProbeGate(rate: 1000, burst: 1000) { .zero }
        let (verdict, results) = try await line.check(family, gate: gate)
        #expect(verdict.failurePoint == .gateway && verdict.reason == .silent, "\(verdict) \(results)")
        let listing = try line.gateway.run("nft", ["list", "ruleset"]).output
        let words = listing.split(separator: " ")
        let count = words.firstIndex(of: "packets").flatMap { Int(words[$0 + 1]) }
        #expect((1...3).contains(count ?? 0), "\(listing)")
    }

    private static func silence(_ gateway: LabNamespace) throws {
        let echoes = "icmp type echo-request drop; icmpv6 type echo-request drop"
        try gateway.filter("prerouting", "udp dport 33434 counter drop; tcp dport 1-65535 drop; \(echoes)")
    }

    /// Without permission for echoes, the only answers are the gateway's errors. All rounds together may cause three of them.
    @Test(.enabled(if: LabNamespace.hasPacketFilter && LabThread.canBecomeNobody), arguments: AddressFamily.allCases)
    func `concurrent rounds find the same place`(family: AddressFamily) async throws {
        let line = try await ProbedLine.make(family)
        defer { line.close() }
        try await LabThread.detached { try Self.silence(line.gateway) }
        let gate = ProbeGate()
        let verdicts = try await withThrowingTaskGroup(of: CheckVerdict.self) { group in
            for interface in [nil, "p0", nil, "p0"] {
                group.addTask {
                    try await line.check(family, asNobody: true, interface: interface, gate: gate).verdict
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(verdicts.allSatisfy { $0.failurePoint == .gateway }, "\(verdicts)")
    }

    @Test(.enabled(if: LabNamespace.hasPacketFilter && LabThread.canBecomeNobody), arguments: AddressFamily.allCases)
    func `a gateway that has stopped sending errors is alive`(family: AddressFamily) async throws {
        let line = try await ProbedLine.make(family)
        defer { line.close() }
        try await LabThread.detached {
            let kinds = "type { destination-unreachable, time-exceeded } drop"
            try line.gateway.filter("output", "icmp \(kinds); icmpv6 \(kinds)")
            try LabRow.forward(false, in: line.gateway)
        }
        let (verdict, results) = try await line.check(family, asNobody: true)
        #expect(verdict.failurePoint == .upstream && verdict.reason == .silentBeyond, "\(results)")
    }

    @Test(arguments: AddressFamily.allCases)
    func `a missing carrier is reported by the kernel`(family: AddressFamily) async throws {
        let (verdict, _) = try await check(family) { try $0.gateway.ip("link set g0 down") }
        #expect(
            verdict.failurePoint == .link && verdict.reason.rawValue == "noCarrier" && verdict.confidence == .proven
        )
    }
}
