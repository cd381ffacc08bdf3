import Dispatch
import KernelLab
import NetworkDiagnostics
import NetworkLab
import NetworkReachability
import NetworkReachabilityTesting
import Testing

/// The chain of evidence, in a fake kernel and a real one.
@Suite struct EvidenceTests {
    @Test(arguments: WorldKind.allCases, EvidenceCase.all)
    func `the chain of evidence explains the verdict`(kind: WorldKind, play: EvidenceCase) async throws {
        try await kind.play { world, checks in
            try world.apply(play.changes)
            var options = NetworkReachabilityOptions()
            options.firewallMark = play.mark
            let manager = try world.manager(of: play.host, options: options)
            var evidence = manager.evidence()
            // A real kernel sets dormant links and removes routes with a delay.
            _ = Deadline(after: .seconds(15)).poll {
                evidence = manager.evidence()
                return evidence.path.reason == play.reason
                    && (play.chain.isEmpty || EvidenceCase.lines(of: evidence) == play.chain)
            }
            checks.expect(evidence.path.reason, is: play.reason)
            checks.expect(evidence.path, is: manager.path)
            if !play.chain.isEmpty { checks.expect(EvidenceCase.lines(of: evidence), is: play.chain) }
            Self.expectSound(evidence, checks)
        }
    }

    /// Checks the properties that every chain has.
    static func expectSound(_ evidence: NetworkEvidence, _ checks: Checks) {
        let states = evidence.steps.map(\.state)
        checks.expect(evidence.steps.last?.kind, is: .verdict)
        checks.expect((evidence.brokenStep == nil) == evidence.path.status.isReachable, "\(evidence.steps)")
        checks.expect((evidence.brokenStep?.remedy == nil) == evidence.path.status.isReachable, "\(evidence.steps)")
        checks.expect(evidence.brokenStep?.kind != .verdict, "nothing but the verdict is broken: \(evidence.steps)")
        let broken = states.firstIndex(of: .broken) ?? states.count
        let after = states.dropFirst(broken + 1).dropLast()
        checks.expect(after.allSatisfy { $0 == .notReached }, "reached after the break: \(evidence.steps)")
        checks.expect(!states.prefix(broken).contains(.notReached), "not reached before: \(evidence.steps)")
        checks.expect(evidence.steps.allSatisfy { !$0.summary.isEmpty }, "an empty summary: \(evidence.steps)")
    }

    @Test(arguments: FakeKernel.NeighbourState.allCases)
    func `the chain contains the neighbour state of the gateway`(state: FakeKernel.NeighbourState) async throws {
        try await WorldKind.playFake(Change.uplink) { world, checks in
            let manager = try world.manager(of: "203.0.113.7")
            world.kernel.setNeighbour("10.1.0.1", on: "c0", state)
            let evidence = manager.evidence()
            // The state is only evidence and does not change the verdict.
            checks.expect(evidence.path.status, is: .wired)
            let step = evidence.steps.first { $0.kind == .neighbour }
            let isGood = [.reachable, .permanent, .noARP].contains(state)
            checks.expect(step?.state, is: isGood ? .ok : .informational)
            checks.expect(evidence.neighbour?.address, is: IPAddress("10.1.0.1"))
            checks.expect(evidence.neighbour?.isGateway, is: true)
            checks.expect(evidence.neighbour?.state.rawValue, is: "\(state)".lowercased())
            let isKnown = state != .failed && state != .incomplete
            checks.expect(evidence.neighbour?.hardwareAddress, is: isKnown ? "02:00:00:00:00:99" : nil)
        }
    }

    @Test func `the chain explains the addresses of a name or why there are none`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            world.resolver.set("both.example", addresses: ["2001:db8::7", "203.0.113.7"])
            world.resolver.fail("sick.example")
            world.resolver.hold("slow.example")
            var options = NetworkReachabilityOptions()
            options.nameResolutionWait = .zero
            func explain(_ name: String) throws -> (NetworkEvidence, [String]) {
                let manager = try world.manager(of: name, options: options)
                _ = manager.path
                world.flush()
                let evidence = manager.evidence()
                checks.expect(evidence.path, is: manager.path)
                Self.expectSound(evidence, checks)
                return (evidence, EvidenceCase.lines(of: evidence))
            }
            let (evidence, lines) = try explain("both.example")
            checks.expect(evidence.target, is: "both.example")
            checks.expect(
                Array(lines.prefix(2)),
                is: [
                    "ok name: both.example: 2001:db8::7 no route; 203.0.113.7 reachable",
                    "ok address: 203.0.113.7 decides",
                ]
            )
            checks.expect(evidence.candidates.map(\.isReachable), is: [false, true])
            checks.expect(
                try explain("none.example").1.first,
                is:
                    "broken name: none.example: the name does not exist, or has no address -> check the spelling of"
                    + " none.example, or add it to the name service or to /etc/hosts"
            )
            checks.expect(
                try explain("sick.example").1.first,
                is:
                    "broken name: sick.example: the name service cannot be queried: Temporary failure in name resolution ->"
                    + " check whether the servers in /etc/resolv.conf are correct and reachable"
            )
            let (slow, slowLines) = try explain("slow.example")
            checks.expect(slow.path.reason, is: .resolving)
            checks.expect(
                slowLines,
                is: [
                    "broken name: slow.example: no answer yet -> wait for the name service, or check the servers in"
                        + " /etc/resolv.conf", "broken verdict: unknown, name not resolved yet",
                ]
            )
        }
    }

    @Test(arguments: FakeKernel.Fault.allCases)
    func `a denied query is a broken step of the kernel`(fault: FakeKernel.Fault) async throws {
        try await WorldKind.playFake(Change.uplink) { world, checks in
            world.kernel.denyNetlink(fault)
            let manager = try world.manager()
            for _ in 0..<2 {
                let evidence = manager.evidence()
                checks.expect(evidence.path.reason, is: .netlinkUnavailable)
                checks.expect(evidence.path, is: manager.path)
                checks.expect(evidence.brokenStep?.kind, is: .kernel)
                checks.expect(evidence.brokenStep?.summary.hasPrefix("cannot "), is: true)
                Self.expectSound(evidence, checks)
                // The same if the connection fails later.
                world.kernel.denyNetlink(nil)
                world.kernel.failQuestions(nil)
                checks.expect(manager.evidence().path.status, is: .wired)
                world.kernel.failQuestions(fault)
            }
        }
    }

    @Test func `reachable addresses below the quorum are not sufficient`() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.cable() + [.route(RouteChange("8.0.0.0/7", via: "10.1.0.1"))])
            let evidence = try world.manager().evidence()
            checks.expect(evidence.path.reason, is: .noRoute)
            checks.expect(evidence.quorums.map(\.reachable), is: [2, 0])
            checks.expect(evidence.quorums.map(\.needed), is: [5, 3])
            checks.expect(evidence.candidates.count, is: 13)
            checks.expect(evidence.candidates.first(where: \.isDeciding)?.isReachable, is: false)
            Self.expectSound(evidence, checks)
        }
    }

    @Test func `a change during the collection of evidence does not make the chain inconsistent`() async throws {
        try await WorldKind.playFake(Change.uplink) { world, checks in
            let manager = try world.manager(of: "203.0.113.7")
            for index in 0..<40 {
                // A concurrent change at a random moment between the queries.
                let group = DispatchGroup()
                DispatchQueue.global().async(group: group) { world.kernel.setCarrier("c0", index % 2 == 1) }
                let evidence = manager.evidence()
                group.wait()
                Self.expectSound(evidence, checks)
            }
        }
    }
}

/// A network and its expected chain of evidence, which is the same in every world.
struct EvidenceCase: Sendable, CustomTestStringConvertible {
    let name: String
    /// The target; nil for the network at large.
    var host: String?
    var mark: UInt32 = 0
    var changes = Change.uplink
    var reason: NetworkPath.UnsatisfiedReason?
    /// The expected steps, without steps that are not reached.
    let chain: [String]

    var testDescription: String { name }

    /// Returns a line for each step of a chain: mark, kind and summary. The remedy follows after an arrow.
    static func lines(of evidence: NetworkEvidence) -> [String] {
        evidence.steps.filter { $0.state != .notReached }.map { step in
            "\(step.state == .informational ? "note" : step.state.rawValue) \(step.kind.rawValue): \(step.summary)"
                + (step.remedy.map { " -> \($0)" } ?? "")
        }
    }

    static let all = ways + refusals + linkTroubles + others
}
