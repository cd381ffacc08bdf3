import Glibc
import LinuxSupport
import TestSupport
import Testing

@testable import ReachabilityChecks

struct JudgePropertyTests {
    /// Returns random evidence, including combinations that no network produces.
    static func random(_ chance: inout SeededGenerator) -> Situation {
        let target: CheckTarget? = Bool.random(using: &chance) ? SituationTests.port : nil
        var situation = Situation(Int.random(in: 0..<3, using: &chance) == 0 ? target : nil)
        let errors = [
            Situation.error(3, 13, .gateway), Situation.error(3, 1, .thisMachine), Situation.error(3, 13, .thisMachine),
            Situation.error(3, 0, .hop(2), Situation.hop), Situation.error(3, 13, .peer),
        ]
        let outcomes: [ProbeOutcome] =
            [
                .answered, .silent, .silent, .silent, .refused(.peer), .blockedHere(EPERM), .blockedHere(EACCES),
                .blockedHere(ENETUNREACH), .invalid(.untrusted),
                .skipped(.notPermitted), .cancelled,
            ] + errors
        func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &chance)] }
        for _ in 0..<Int.random(in: 0..<8, using: &chance) {
            let outcome = pick(outcomes)
            let family = Int.random(in: 0..<4, using: &chance) == 0 ? AddressFamily.ipv6 : .ipv4
            let host = pick(["a", "b", "c"])
            situation = situation.over(family)
            switch Int.random(in: 0..<9, using: &chance) {
            case 0: situation = situation.gateway(outcome)
            case 1: situation = situation.hop(outcome)
            case 2: situation = situation.server(outcome, pick([Situation.resolver, Situation.gateway]))
            case 3: situation = situation.verified(host)
            case 4: situation = situation.echoed(host)
            case 5: situation = situation.anchor(outcome, host, pick([.tcp, .http, .tls]))
            case 6: situation = situation.page(pick([.unassigned, .anchor(host)]), pick([200, 204, 302, 503, 511]))
            case 7: situation = situation.target(pick([.tcp, .echo]), outcome)
            default: situation = situation.asked(.invented, addresses: pick([[], ["192.0.2.1"]]))
            }
        }
        return situation
    }

    @Test func `any evidence has exactly one verdict`() async {
        var chance = SeededGenerator(seed: 50)
        var places: Set<CheckPlace> = []
        for round in 0..<MutationCount.value {
            await takeTurns(in: round)
            let situation = Self.random(&chance)
            let verdict = situation.verdict
            places.insert(verdict.failurePoint)
            if verdict.text.isEmpty { Issue.record("no text: \(verdict)") }
        }
        #expect(places.count >= 9, "\(places)")
    }

    /// An answer of a gateway, router, server, anchor or target moves the place away from this machine, or does not move it.
    @Test func `an answer never moves the place nearer`() async {
        var chance = SeededGenerator(seed: 51)
        for round in 0..<MutationCount.value {
            await takeTurns(in: round)
            let situation = Self.random(&chance).over(.ipv4)
            let before = situation.verdict
            // Behind a portal, an answer in place of the target comes from the portal.
            let isProof = situation.evidence.target != nil && !situation.evidence.valid.contains(where: \.looksCaptive)
            // A verified certificate proves that there is no portal, and reveals the fault behind it.
            let anchors = before.failurePoint == .portal ? [] : [situation.verified("a"), situation.verified("d")]
            // The family that reaches farther decides. A proof may change which one that is.
            let isSingle = situation.evidence.results.allSatisfy { $0.request.binding.family == .ipv4 }
            let proofs =
                [situation.gateway(.answered)] + (isSingle ? [situation.hop(), situation.server()] + anchors : [])
                + (isProof ? [situation.target(.tcp, .answered)] : [])
            for proof in proofs {
                let after = proof.verdict
                // Answered datagrams are the evidence for a filter of connections in place of a broken line (row 6).
                if after.reason == .tcpFiltered { continue }
                // A refusal by this machine is reported only if the uplink works.
                if after.text.contains(" refuses packets to ") { continue }
                // An interception over one family is reported if the other family is only known to reach farther.
                if after.failurePoint == .portal, !isSingle { continue }
                if after.failurePoint.distance < before.failurePoint.distance, before.failurePoint != .inconclusive {
                    Issue.record(
                        """
                        \(before.failurePoint) became \(after.failurePoint): \(before.text); \(after.text); \
                        \(proof.evidence.results.map { ($0.request.binding.family, $0.kind, $0.request.subject, $0.outcome) })
                        """
                    )
                    return
                }
            }
        }
    }
}
