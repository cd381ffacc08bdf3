import Glibc
import LinuxSupport
import NetworkLab
import NetworkReachability
import Testing

@testable import ReachabilityChecks

/// Targets that are checked repeatedly and share the results about the uplink.
@Suite struct CheckEngineTests {
    private func withLine(_ body: (ProbedLine, CheckOptions) async throws -> Void) async throws {
        let line = try await ProbedLine.make(.ipv4)
        defer { line.close() }
        for station in [line.gateway, line.provider] { try station.sysctl("net.ipv4.icmp_ratelimit", "0") }
        try line.provider.ip("route add blackhole 198.18.0.0/15")
        let server = try await LabThread.detached { try EchoServer(in: [line.provider]) }
        defer { server.stop() }
        var options = CheckOptions()
        options.networkNamespace = .path(line.pc.path)
        options.family = .ipv4
        options.nameServers = []
        options.timeLimit = .seconds(4)
        try await body(line, options)
    }

    private static let open = "tcp://\(ProbedLine.world(.ipv4)):\(EchoServer.port)"

    /// Returns the results about the uplink. Reports of one round have the same ones.
    private static func line(_ report: CheckReport?) -> [ProbeResult] {
        (report?.probes ?? []).filter { $0.kind == .gateway || $0.kind == .hop }
    }

    @Test func `targets that do not answer at the same time share one round about the uplink`() async throws {
        try await withLine { _, options in
            let engine = CheckEngine(options)
            let reports = try await withThrowingTaskGroup(of: CheckReport?.self) { group in
                for number in 1...20 {
                    group.addTask { try await engine.check(CheckTarget("tcp://198.18.0.\(number):80"), .fresh) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(reports.allSatisfy { $0?.verdict.failurePoint == .host })
            let lines = Set(reports.map(Self.line))
            #expect(lines.count == 1)
            #expect(lines.first?.isEmpty == false)
        }
    }

    /// A socket keeps a namespace alive. Its release is visible at the other end of its cable.
    @Test func `a namespace that loses its name is released`() async throws {
        try await withLine { line, options in
            var template = Array("/tmp/bench-XXXXXX".utf8CString)
            let directory = String(cString: try #require(mkdtemp(&template)))
            defer { rmdir(directory) }
            let name = try await LabThread.detached { try NamespaceName("pod", in: directory, for: line.pc) }
            var options = options
            options.networkNamespace = .path(name.path)
            let engine = CheckEngine(options)
            let report = try await engine.check(CheckTarget(Self.open), .fresh)
            #expect(report?.verdict.failurePoint == .works)
            name.remove()
            line.pc.close()
            // The path to the target no longer exists, as its monitor reports.
            engine.forget()
            try await waitUntil {
                try await LabThread.detached {
                    try line.gateway.run("ip", ["link", "show", "dev", "g0"]).status != 0
                }
            }
            await #expect(throws: CheckError.self) { try await engine.check(CheckTarget(Self.open), .fresh) }
        }
    }

    @Test func `a target that answers causes no probe of the uplink or of anchors`() async throws {
        try await withLine { _, options in
            var options = options
            options.anchors = [try CheckOptions.Anchor("http://198.18.0.9/")]
            let engine = CheckEngine(options)
            for _ in 0..<3 {
                let report = try #require(try await engine.check(CheckTarget(Self.open), .fresh))
                #expect(report.verdict.failurePoint == .works)
                #expect(Self.line(report).isEmpty && !report.probes.contains(where: \.isAnchor))
            }
        }
    }

    @Test func `a lasting fault uses earlier results, and a new fault does not`() async throws {
        try await withLine { _, options in
            let engine = CheckEngine(options)
            let target = try CheckTarget("tcp://198.18.0.1:80")
            let first = Self.line(try await engine.check(target, .fresh))
            #expect(!first.isEmpty)
            #expect(try await Self.line(engine.check(target, .lasting)) == first)
            let second = try await Self.line(engine.check(target, .fresh))
            #expect(second != first)
            engine.forget()
            #expect(try await Self.line(engine.check(target, .lasting)) != second)
        }
    }

    @Test func `a burst counts answered and lost echoes`() async throws {
        try await withLine { line, options in
            let engine = CheckEngine(options)
            let target = try CheckTarget.echo(ProbedLine.world(.ipv4))
            let good = try #require(try await engine.burst(target, count: 3))
            #expect(good.sent == 3 && good.lost == 0 && good.roundTrips.allSatisfy { $0 > .zero && $0 < .seconds(2) })
            let silent = try #require(try await engine.burst(CheckTarget.echo("198.18.0.1"), count: 2))
            #expect(silent == EchoBurst(roundTrips: [], sent: 2))
            try line.provider.sysctl("net.ipv4.icmp_echo_ignore_all", "1")
            let lost = try #require(try await engine.burst(target, count: 2))
            #expect(lost.sent == 2 && lost.lost == 2)
        }
    }

    @Test func `a cancelled check does not affect other checks`() async throws {
        try await withLine { _, options in
            let engine = CheckEngine(options)
            let (first, second) = (try CheckTarget("tcp://198.18.0.1:80"), try CheckTarget("tcp://198.18.0.2:80"))
            let cancelled = Task { try await engine.check(first, .fresh) }
            let other = Task { try await engine.check(second, .fresh) }
            // The uplink is probed after 250 ms.
            try await Task.sleep(for: .milliseconds(400))
            cancelled.cancel()
            let report = try await other.value
            #expect(report?.verdict.failurePoint == .host)
            #expect(Self.line(report).contains { $0.outcome == .answered })
            _ = try await cancelled.value
        }
    }

    @Test func `an expected status, a handshake and a name are separate checks`() throws {
        #expect(try CheckTarget.handshake(with: "2001:db8::1", port: 993).text == "tls://[2001:db8::1]:993")
        #expect(try CheckTarget.name("www.example").decisive == .resolve)
        #expect(throws: CheckInputError.self) { try CheckTarget.name("192.0.2.1") }
        #expect(throws: CheckInputError.self) { try CheckTarget.handshake(with: "a b", port: 1) }
    }
}
