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
    func chainExplainsTheVerdict(kind: WorldKind, play: EvidenceCase) async throws {
        try await kind.play { world, checks in
            try world.apply(play.changes)
            var options = NetworkReachabilityOptions()
            options.firewallMark = play.mark
            let manager = try world.manager(of: play.host, options: options)
            var evidence = manager.evidence()
            // A real kernel takes its time to let a link be dormant, and to take routes away.
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

    /// What holds of every chain.
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
    func everyStateOfTheGatewayIsTold(state: FakeKernel.NeighbourState) async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.uplink)
            let manager = try world.manager(of: "203.0.113.7")
            world.kernel.setNeighbour("10.1.0.1", on: "c0", state)
            let evidence = manager.evidence()
            // It is evidence, and changes no verdict.
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

    @Test func aNameIsExplained() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
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
    func aKernelThatCannotBeAsked(fault: FakeKernel.Fault) async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.uplink)
            world.kernel.denyNetlink(fault)
            let manager = try world.manager()
            for _ in 0..<2 {
                let evidence = manager.evidence()
                checks.expect(evidence.path.reason, is: .netlinkUnavailable)
                checks.expect(evidence.path, is: manager.path)
                checks.expect(evidence.brokenStep?.kind, is: .kernel)
                checks.expect(evidence.brokenStep?.summary.hasPrefix("cannot "), is: true)
                Self.expectSound(evidence, checks)
                // The same when the connection breaks later.
                world.kernel.denyNetlink(nil)
                world.kernel.failQuestions(nil)
                checks.expect(manager.evidence().path.status, is: .wired)
                world.kernel.failQuestions(fault)
            }
        }
    }

    @Test func aMinorityIsNotEnough() async throws {
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

    @Test func whatGoesWhileItIsLookedAtIsAskedAgain() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.uplink)
            let manager = try world.manager(of: "203.0.113.7")
            for index in 0..<40 {
                // A change in another thread, somewhere between the questions.
                let group = DispatchGroup()
                DispatchQueue.global().async(group: group) { world.kernel.setCarrier("c0", index % 2 == 1) }
                let evidence = manager.evidence()
                group.wait()
                Self.expectSound(evidence, checks)
            }
        }
    }
}

/// A network and the chain of evidence it must lead to, the same in every world.
struct EvidenceCase: Sendable, CustomTestStringConvertible {
    let name: String
    /// The target; nil for the network at large.
    var host: String?
    var mark: UInt32 = 0
    let changes: [Change]
    let reason: NetworkPath.UnsatisfiedReason?
    /// The steps that hold or are worth knowing, those that are not reached left out.
    let chain: [String]

    var testDescription: String { name }

    /// A chain as lines: mark, kind and summary; the remedy stands behind an arrow.
    static func lines(of evidence: NetworkEvidence) -> [String] {
        evidence.steps.filter { $0.state != .notReached }.map { step in
            "\(step.state == .informational ? "note" : step.state.rawValue) \(step.kind.rawValue): \(step.summary)"
                + (step.remedy.map { " -> \($0)" } ?? "")
        }
    }

    static let all = ways + refusals + linkTroubles + others
}
