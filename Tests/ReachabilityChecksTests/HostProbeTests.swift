import Glibc
import NetworkLab
import NetworkReachability
import Testing

@testable import LinuxSupport
@testable import ReachabilityChecks

/// Probes of a host that answers, is silent, or is blocked, with the location of the block.
@Suite struct HostProbeTests {
    /// Changes a line, and probes the host behind it.
    private func probe(
        _ family: AddressFamily,
        asNobody: Bool = false,
        limit: Duration = .seconds(20),
        _ change: @escaping @Sendable (ProbedLine) throws -> Void,
        _ body: (Prober, IPAddress) async throws -> Void
    ) async throws {
        let line = try await ProbedLine.make(family)
        defer { line.close() }
        let server = try await LabThread.detached {
            let server = try EchoServer(in: [line.provider])
            try change(line)
            return server
        }
        defer { server.stop() }
        if asNobody { try line.pc.sysctl("net.ipv4.ping_group_range", "1 0") }
        let world = try #require(IPAddress(ProbedLine.world(family)))
        try await body(try line.prober(family, asNobody: asNobody), world)
    }

    private static func filter(_ namespace: LabNamespace, _ hook: String, _ verdict: String) throws {
        let echoes = "icmp type echo-request \(verdict); icmpv6 type echo-request \(verdict)"
        try namespace.filter(hook, "meta l4proto { tcp, udp } \(verdict); \(echoes)")
    }

    private static let users = LabThread.canBecomeNobody ? [false, true] : [false]

    @Test(arguments: AddressFamily.allCases, users)
    func `a host that answers works`(family: AddressFamily, asNobody: Bool) async throws {
        try await probe(family, asNobody: asNobody, { _ in }) { prober, host in
            let echo = await prober.echo(.target, to: host, limit: .patience)
            #expect(echo.outcome == .answered && echo.request.kind == (asNobody ? .udp : .echo), "\(echo)")
            #expect(echo.phases[.request] ?? .zero > .zero && echo.failedPhase == nil, "\(echo)")
            if !asNobody { #expect(echo.evidence.replyHopLimit == 63) }
            let reset = await prober.reset(.target, of: host, limit: .patience)
            #expect(reset.outcome == .answered && reset.phases[.connect] ?? .zero > .zero, "\(reset)")
            let open = await prober.connect(.target, to: host, port: EchoServer.port, limit: .patience)
            #expect(open.outcome == .answered && open.phases[.connect] != nil, "\(open)")
            #expect(open.evidence.kernelRoundTrip != nil && open.cost.packets >= 3)
            let closed = await prober.connect(.target, to: host, port: 9, limit: .patience)
            #expect(closed.outcome == .refused(.peer) && closed.failedPhase == .connect, "\(closed)")
        }
    }

    @Test(arguments: AddressFamily.allCases, users)
    func `a silent host is the fault`(family: AddressFamily, asNobody: Bool) async throws {
        let hole: @Sendable (ProbedLine) throws -> Void = { line in
            let option = family == .ipv4 ? "-4" : "-6"
            try line.provider.ip("\(option) route add blackhole \(family == .ipv4 ? "203.0.113.9" : "fd77::9")")
        }
        try await probe(family, asNobody: asNobody, hole) { prober, _ in
            let absent = try #require(IPAddress(family == .ipv4 ? "203.0.113.9" : "fd77::9"))
            let echo = await prober.echo(.target, to: absent, limit: .milliseconds(500))
            #expect(echo.outcome == .silent, "\(echo)")
            let connection = await prober.connect(.target, to: absent, port: 80, limit: .milliseconds(500))
            #expect(connection.outcome == .silent && connection.failedPhase == .connect, "\(connection)")
            #expect(connection.phases.isEmpty)
        }
    }

    /// The sender of "prohibited".
    enum Fence: CaseIterable {
        case ownMachine, router, host
    }

    @Test(.enabled(if: LabNamespace.hasPacketFilter, "there is no nft"), arguments: Fence.allCases, users)
    func `a rejecting packet filter is located`(fence: Fence, asNobody: Bool) async throws {
        for family in AddressFamily.allCases {
            let reject = "reject with icmpx type admin-prohibited"
            let setUp: @Sendable (ProbedLine) throws -> Void = { line in
                switch fence {
                case .ownMachine: try Self.filter(line.pc, "output", reject)
                case .router: try Self.filter(line.gateway, "forward", reject)
                case .host: try Self.filter(line.provider, "input", reject)
                }
            }
            try await probe(family, asNobody: asNobody, setUp) { prober, host in
                let source: ICMPSource =
                    switch fence {
                    case .ownMachine: .thisMachine
                    case .router: .gateway
                    case .host: .peer
                    }
                var results = [
                    await prober.connect(.target, to: host, port: EchoServer.port, limit: .patience)
                ]
                // An echo that this machine rejects is refused immediately, or gets no answer.
                if !asNobody, fence != .ownMachine {
                    results.append(await prober.echo(.target, to: host, limit: .patience))
                }
                for result in results {
                    guard case .unreachable(let error) = result.outcome else {
                        Issue.record("\(result)")
                        continue
                    }
                    #expect(error.source == source && error.reason == .prohibited, "\(error)")
                }
            }
        }
    }

    /// A rule for a protocol or a port, which a route lookup does not show.
    @Test(
        arguments: AddressFamily.allCases,
        [("prohibit", EACCES), ("unreachable", ENETUNREACH), ("blackhole", EINVAL)]
    )
    func `a rule of this machine that refuses is reported with its error number`(
        family: AddressFamily,
        kind: (name: String, number: CInt)
    ) async throws {
        let option = family == .ipv4 ? "-4" : "-6"
        let icmp = family == .ipv4 ? "icmp" : "ipv6-icmp"
        let rules = ["tcp dport 7", "udp dport 53", icmp].map {
            "\(option) rule add pref 100 ipproto \($0) \(kind.name)"
        }
        try await probe(family, { for rule in rules { try $0.pc.ip(rule) } }) { prober, host in
            let question = DNSQuestion(try #require(DNSName("ipv4only.arpa")), .a, identifier: 7)
            let url = try CheckTarget.url("http://\(host.urlText):7/")
            let secure = try CheckTarget.url("https://\(host.urlText):7/")
            let results = [
                await prober.connect(.target, to: host, port: 7),
                await prober.echo(.target, to: host, limit: .patience),
                await prober.query(host, .known, question),
                await prober.fetch(.target, WebRequest(url, .target), at: host, limit: .patience),
                await prober.fetch(.anchor("a"), WebRequest(secure, .target), at: host, limit: .patience),
            ]
            for result in results { #expect(result.outcome == .blockedHere(kind.number), "\(result)") }
        }
    }

    /// Linux 6.1 gives up an unresolved neighbour without an ICMP error.
    @Test(arguments: AddressFamily.allCases)
    func `a connection to an unresolved neighbour is an error of this machine`(
        family: AddressFamily
    ) async throws {
        try await probe(family, { _ in }) { prober, host in
            let request = prober.request(.tcp, .target, host, port: 7, limit: .patience)
            let outcome = StreamOutcome(end: .failed(.hostUnreachable))
            guard case .unreachable(let error) = prober.result(request, outcome, about: host).outcome else {
                Issue.record("the outcome is another one")
                return
            }
            #expect(error.source == .thisMachine && error.reason == .hostUnreachable, "\(error)")
        }
    }

    @Test(.enabled(if: LabNamespace.hasPacketFilter, "there is no nft"), arguments: AddressFamily.allCases)
    func `dropped packets of this machine are a fault of its packet filter`(family: AddressFamily) async throws {
        try await probe(family, { try Self.filter($0.pc, "output", "drop") }) { prober, host in
            let connection = await prober.connect(.target, to: host, port: EchoServer.port, limit: .milliseconds(500))
            #expect(connection.outcome == .silent, "\(connection)")
            let echo = await prober.echo(.target, to: host, limit: .milliseconds(500))
            // IPv6 does not report the drop.
            let expected: [ProbeOutcome] = family == .ipv4 ? [.blockedHere(1)] : [.silent, .blockedHere(1)]
            #expect(expected.contains(echo.outcome), "\(echo)")
        }
    }
}
