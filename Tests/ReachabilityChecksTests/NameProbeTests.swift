import LinuxSupport
import NetworkLab
import NetworkReachability
import Testing

@testable import ReachabilityChecks

/// Probes of name servers with every known behaviour, and the verdicts if internet access is proven.
@Suite struct NameProbeTests {
    /// The behaviour of a server, and the expected result of a question for `ipv4only.arpa`.
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let behaviour: NameServer.Behaviour
        let outcome: ProbeOutcome
        let place: CheckPlace
        let reason: ProbeReason

        init(
            _ name: String,
            _ behaviour: NameServer.Behaviour,
            _ outcome: ProbeOutcome,
            _ place: CheckPlace,
            _ reason: ProbeReason
        ) {
            (testDescription, self.behaviour, self.outcome) = (name, behaviour, outcome)
            (self.place, self.reason) = (place, reason)
        }

        init(_ name: String, _ behaviour: NameServer.Behaviour, _ reason: ProbeReason) {
            self.init(name, behaviour, .invalid(reason), .dns, reason)
        }
    }

    static let cases = [
        Case("answers", .well, .answered, .works, .internetProven),
        Case("works without EDNS", .old, .answered, .works, .internetProven),
        Case("truncates, and answers over TCP", .truncated(streams: .open), .answered, .works, .internetProven),
        Case("is slow", .slow(.milliseconds(1700)), .answered, .degraded, .slow),
        Case("is silent", .silent, .silent, .dns, .serverSilent),
        Case("answers only over TCP", .streamsAlone, .silent, .dns, .serverSilent),
        Case("does not listen", .closed, .serverClosed),
        Case("fails", .serverFailure, .serverFailed),
        Case("refuses", .refused, .serverRefused),
        Case("does not implement the question", .notImplemented, .serverFailed),
        Case("sends malformed answers", .malformed, .malformedAnswer),
        Case("answers with another identifier", .wrongIdentifier, .mismatchedAnswer),
        Case("answers about another name", .wrongQuestion, .mismatchedAnswer),
        Case("answers after a forged datagram", .preceded(by: [0], [1, 2, 3]), .answered, .works, .internetProven),
        Case("answers NXDOMAIN for all names", .ignorant, .answered, .dns, .knownAnswerDiffers),
        Case("is not recursive", .alone, .answered, .dns, .notRecursive),
        Case("truncates, and does not listen on TCP", .truncated(streams: .closed), .truncatedWithoutTCP),
        Case("truncates, and is silent over TCP", .truncated(streams: .silent), .truncatedWithoutTCP),
    ]

    @Test(arguments: AddressFamily.allCases, cases)
    func `each behaviour of a name server has its verdict`(family: AddressFamily, expected: Case) async throws {
        try await AskedLine.run(family, expected.behaviour) { line in
            let limit = expected.outcome == .answered ? .seconds(20) : Prober.connectLimit
            let result = try await line.query(.known, "ipv4only.arpa", limit: limit)
            #expect(result.outcome == expected.outcome, "\(result)")
            let verdict = line.judge([result])
            #expect(verdict.failurePoint == expected.place && verdict.reason == expected.reason, "\(verdict)")
            let asked = Set(line.server.questions.map(\.name))
            #expect(asked == (expected.behaviour == .closed ? [] : ["ipv4only.arpa"]))
            // Including the question over TCP.
            #expect(result.cost.packets > 0 && result.cost.packets <= 12)
        }
    }

    @Test(arguments: AddressFamily.allCases)
    func `a truncated answer is complete over TCP`(family: AddressFamily) async throws {
        try await AskedLine.run(family, .truncated(streams: .open)) { line in
            let result = try await line.query(.known, "ipv4only.arpa")
            #expect(result.evidence.dns?.addresses.map(\.description) == ["192.0.0.170", "192.0.0.171"])
            #expect(result.evidence.dns?.isTruncated == false)
            #expect(result.phases[.connect] != nil && result.phases[.request] != nil)
            #expect(line.server.questions.map(\.isStream) == [false, true])
        }
    }

    @Test(arguments: [NameServer.Behaviour.invents("192.0.2.9"), .portal("192.0.2.9")])
    func `invented answers for names that do not exist are reported`(behaviour: NameServer.Behaviour) async throws {
        try await AskedLine.run(.ipv4, behaviour) { line in
            let known = try await line.query(.known, "ipv4only.arpa")
            let invented = try await line.query(.invented, "0123456789.invalid")
            let verdict = line.judge([known, invented])
            #expect(verdict.failurePoint == .dns && verdict.reason == .inventsAnswers, "\(verdict)")
        }
    }

    /// The identifier of the question is 77. The first response has it, and is malformed.
    @Test func `a malformed answer with the right identifier does not hide the correct one`() async throws {
        try await AskedLine.run(.ipv4, .preceded(by: [0, 77, 0x80], [0, 77, 0x81, 0x80, 0, 1])) { line in
            let result = try await line.query(.known, "ipv4only.arpa")
            #expect(result.outcome == .answered, "\(result)")
        }
    }

    @Test func `a wrong address of a known name is a fault`() async throws {
        try await AskedLine.run(.ipv4, zone: ["ipv4only.arpa": ["10.9.9.9"]]) { line in
            let known = try await line.query(.known, "ipv4only.arpa")
            let verdict = line.judge([known])
            #expect(verdict.failurePoint == .dns && verdict.reason == .knownAnswerDiffers, "\(verdict)")
        }
    }

    @Test func `an unexpected address of a name is a fault`() async throws {
        try await AskedLine.run(.ipv6, zone: ["www.example": ["192.0.2.9", "fd00::9"]]) { line in
            for (type, address) in [(DNSRecordType.a, "192.0.2.9"), (.aaaa, "fd00::9")] {
                let result = try await line.query(.expected("www.example"), "www.example", type)
                func verdict(expecting expected: String) throws -> CheckVerdict {
                    let expected: Set = [try #require(IPAddress(expected))]
                    return line.judge([result]) { $0.expectations = ["www.example": expected] }
                }
                #expect(try verdict(expecting: address).failurePoint == .works)
                let wrong = try verdict(expecting: "203.0.113.7")
                #expect(wrong.failurePoint == .dns && wrong.reason == .wrongAnswer, "\(wrong)")
            }
        }
    }

    @Test(arguments: [
        (NameServer.Behaviour.Answer.zone, ProbeReason.nameNotFound), (.code(2), .serverFailed),
        (.blocked(15), .blockedByPolicy), (.blocked(18), .blockedByPolicy),
    ])
    func `a target without an address is a fault of DNS`(
        answer: NameServer.Behaviour.Answer,
        reason: ProbeReason
    ) async throws {
        try await AskedLine.run(.ipv4) { line in
            try await LabThread.detached { try line.server.behave(.well, but: ["www.example": answer]) }
            let known = try await line.query(.known, "ipv4only.arpa")
            let target = try await line.query(.target, "www.example")
            let verdict = line.judge([known, target]) { $0.target = CheckTarget("www.example", name: "www.example") }
            #expect(verdict.failurePoint == .dns && verdict.reason == reason, "\(verdict)")
        }
    }

    @Test func `a target without an address of one family is no fault`() async throws {
        try await AskedLine.run(.ipv4, zone: ["www.example": ["fd00::9"], "empty.example": []]) { line in
            let known = try await line.query(.known, "ipv4only.arpa")
            for name in ["www.example", "empty.example"] {
                let results = [
                    known, try await line.query(.target, name), try await line.query(.target, name, .aaaa),
                ]
                let verdict = line.judge(results) { $0.target = CheckTarget(name, name: name) }
                #expect((verdict.reason == .noData) == (name == "empty.example"), "\(verdict)")
            }
        }
    }

    @Test func `one silent server of two is a degradation`() async throws {
        try await AskedLine.run(.ipv4, .silent) { line in
            let gateway = try await LabThread.detached { try NameServer(in: line.line.gateway, at: ["10.1.0.1"]) }
            defer { gateway.stop() }
            let silent = try await line.query(.known, "ipv4only.arpa")
            let good = try await line.query(.known, "ipv4only.arpa", of: "10.1.0.1")
            let verdict = line.judge([silent, good])
            #expect(verdict.failurePoint == .degraded && verdict.reason == .serverSilent, "\(verdict)")
        }
    }

    @Test func `unanswered AAAA questions are a degradation`() async throws {
        try await AskedLine.run(.ipv6, .deafToIPv6) { line in
            let known = try await line.query(.known, "ipv4only.arpa")
            let deaf = try await line.query(.known, "ipv4only.arpa", .aaaa)
            #expect(known.outcome == .answered && deaf.outcome == .silent)
            let verdict = line.judge([known, deaf])
            #expect(verdict.failurePoint == .degraded && verdict.reason == .unansweredAAAA, "\(verdict)")
        }
    }

    @Test func `a link-local server is queried over the link of its zone`() async throws {
        try await AskedLine.run(.ipv6) { line in
            let server = try await LabThread.detached {
                try line.line.gateway.ip("addr add fe80::53/64 dev g0 nodad")
                return try NameServer(in: line.line.gateway, at: ["fe80::53%g0"])
            }
            defer { server.stop() }
            #expect(try await line.query(.known, "ipv4only.arpa", of: "fe80::53%p0").outcome == .answered)
            #expect(try await line.query(.known, "ipv4only.arpa", of: "fe80::53%lo").outcome != .answered)
        }
    }
}

/// A line with a name server behind the provider, and a prober for it.
struct AskedLine: Sendable {
    let line: ProbedLine
    let server: NameServer
    let family: AddressFamily
    private let prober: Prober

    /// Runs the body with a separate line, and removes the line.
    static func run(
        _ family: AddressFamily,
        _ behaviour: NameServer.Behaviour = .well,
        zone: [String: [String]] = [:],
        _ body: (AskedLine) async throws -> Void
    ) async throws {
        let line = try await ProbedLine.make(family)
        defer { line.close() }
        let server = try await LabThread.detached {
            try NameServer(in: line.provider, at: [ProbedLine.world(family)], zone: zone, behaviour)
        }
        defer { server.stop() }
        try await body(AskedLine(line: line, server: server, family: family, prober: try line.prober(family)))
    }

    /// - Parameter address: The address of the server, if it is another one.
    func query(
        _ purpose: NamePurpose,
        _ name: String,
        _ type: DNSRecordType = .a,
        of address: String? = nil,
        limit: Duration = Prober.connectLimit
    ) async throws -> ProbeResult {
        let address = try #require(IPAddress(address ?? ProbedLine.world(family)))
        let question = DNSQuestion(try #require(DNSName(name)), type, identifier: 77)
        return await prober.query(address, purpose, question, limit: limit)
    }

    /// Returns the verdict if an anchor proves internet access.
    func judge(_ results: [ProbeResult], _ change: (inout CheckEvidence) -> Void = { _ in }) -> CheckVerdict {
        let generation = results.first?.generation ?? 1
        let request = ProbeRequest(.http, .anchor("a.example"), binding: ProbeBinding(family: family))
        var anchor = ProbeResult(request, generation: generation, .answered)
        anchor.evidence.tls = TLSFacts(isVerified: true)
        var evidence = CheckEvidence(path: NetworkPath(flags: [.reachable], reason: nil), generation: generation)
        evidence.results = results + [anchor]
        change(&evidence)
        return CheckJudge.judge(evidence)
    }
}
