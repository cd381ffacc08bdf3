import LinuxSupport
import NetworkLab
import NetworkReachability
import Testing

@testable import ReachabilityChecks

/// Requests of servers for fewer checks, and slow lines.
@Suite struct FleetTests {
    // MARK: Retry-After

    private static func result(_ wait: Duration?, _ challenge: HTTPFacts.Challenge = .echoed) -> ProbeResult {
        let request = ProbeRequest(.http, .anchor("a.example"), binding: ProbeBinding(family: .ipv4))
        var result = ProbeResult(request, generation: 1, .invalid(.statusNotExpected))
        result.evidence.http = HTTPFacts(status: 503, challenge: challenge, retryAfter: wait)
        return result
    }

    @Test func `an anchor is not queried for the time that it requests, within limits`() throws {
        let (one, other) = try (CheckOptions.Anchor("http://a.example/"), CheckOptions.Anchor("http://b.example/"))
        let start = ContinuousClock.now
        func rest(_ result: ProbeResult, after time: Duration) -> [CheckOptions.Anchor] {
            let rest = AnchorPauses()
            rest.note([result], of: one, at: start)
            return rest.awake([one, other], at: start + time)
        }
        #expect(rest(Self.result(nil), after: .zero) == [one, other])
        #expect(rest(Self.result(.seconds(120)), after: .seconds(119)) == [other])
        #expect(rest(Self.result(.seconds(120)), after: .seconds(120)) == [one, other])
        #expect(rest(Self.result(.seconds(86_400)), after: .seconds(3599)) == [other])
        #expect(rest(Self.result(.seconds(86_400)), after: .seconds(3600)) == [one, other])
        // Without proof, an interception may have sent the answer.
        #expect(rest(Self.result(.seconds(86_400), .missing), after: .seconds(59)) == [other])
        #expect(rest(Self.result(.seconds(86_400), .missing), after: .seconds(60)) == [one, other])
    }

    @Test func `the next rounds do not query the anchor`() async throws {
        let line = try await ProbedLine.make(.ipv4)
        defer { line.close() }
        let server = try await LabThread.detached {
            let (addresses, port) = (ScriptedServer.anyAddress, ScriptedServer.labPort)
            return try ScriptedServer(in: line.provider, at: addresses, port: port) { _ in
                .status(503, headers: [("Retry-After", "3000")])
            }
        }
        defer { server.stop() }
        var options = CheckOptions()
        options.networkNamespace = .path(line.pc.path)
        (options.family, options.nameServers, options.timeLimit) = (.ipv4, [], .seconds(20))
        let host = ProbedLine.world(.ipv4)
        options.anchors = [try CheckOptions.Anchor("http://\(host):\(ScriptedServer.labPort)/later")]
        let first = try await NetworkCheck(options: options).run()
        #expect(server.received.count == 1 && first.probes.contains(where: \.isAnchor))
        #expect(!first.verdict.notes.contains("retryAfter"))
        let second = try await NetworkCheck(options: options).run()
        #expect(server.received.count == 1 && !second.probes.contains(where: \.isAnchor))
        #expect(second.verdict.notes.contains("retryAfter"))
    }

    // MARK: Slow lines

    @Test func `on a slow line rounds have more time, up to eight seconds`() {
        let usual = CheckOptions().timeLimit
        var patience = RoundTimeLimit()
        func note(_ milliseconds: Int...) {
            patience.note(
                milliseconds.map { time in
                    var result = Self.result(nil)
                    result.evidence.kernelRoundTrip = .milliseconds(time)
                    return result
                }
            )
        }
        #expect(patience.limit(usual) == usual)
        note(20, 600, 40)
        #expect(patience.limit(usual) == usual)
        note(1500, 20)
        #expect(patience.limit(usual) == .milliseconds(6300))
        // The user's setting is used unchanged.
        #expect(patience.limit(.milliseconds(500)) == .milliseconds(500))
        note(20_000)
        #expect(patience.limit(usual) == .seconds(8))
        patience.note([])
        #expect(patience.limit(usual) == .seconds(8))
        for _ in 0..<50 { note(20) }
        #expect(patience.limit(usual) == usual)
    }

    // MARK: The position of a machine

    @Test func `machines of a fleet have different positions and keep them`() {
        let numbers = (0..<1000).map { number in
            let digits = String(number, radix: 16)
            return String(repeating: "0", count: 32 - digits.count) + digits + "\n"
        }
        let places = numbers.compactMap(MachinePosition.of)
        #expect(places.count == 1000 && Set(places).count == 1000)
        #expect(places == numbers.compactMap(MachinePosition.of))
        #expect(places.allSatisfy { (0..<1).contains($0) })
        for tenth in 0..<10 {
            let count = places.count { Int($0 * 10) == tenth }
            #expect((50...150).contains(count), "\(tenth): \(count)")
        }
        for text in ["", "\n", "uninitialized\n", "0123"] { #expect(MachinePosition.of(text) == nil) }
        #expect((0..<1).contains(MachinePosition.ofThisMachine))
    }

    @Test func `full rounds deviate by at most a quarter of their interval`() {
        #expect(ScheduleTiming.fullInterval(0) == .seconds(675))
        #expect(ScheduleTiming.fullInterval(0.5) == .seconds(900))
        #expect(ScheduleTiming.fullInterval(1) == .seconds(1125))
    }
}
