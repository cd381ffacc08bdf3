import Foundation
import NetworkLab
import Testing

/// The verdicts of `reachability check` in broken networks. Each situation is proven by plain packets before the command is tested.
///
///     Scripts/test -- --filter CheckScenarioTests                             each situation in one of its variants
///     SITUATION_VARIANTS=all Scripts/test -- --filter CheckScenarioTests      all variants
///     SITUATIONS=all-well,cable-out Scripts/test -- --filter CheckScenarioTests    all variants of some situations
///     CHECK_TIMES=exact Scripts/test -- --filter CheckScenarioTests           two at a time, within 3.5 s each
///     REACHABILITY_BINARY=none Scripts/test -- --filter CheckScenarioTests    only test the networks with packets
@Suite("Situations of checks")
struct CheckScenarioTests {
    /// The runs mostly wait.
    private static let gate = ConcurrencyGate(SituationRun.isExact ? 2 : 10)

    /// The cases of the situations that SITUATIONS names, separated by commas. Without it, one case of each situation, or all with
    /// SITUATION_VARIANTS=all.
    private static let chosen: [SituationCase] = {
        let environment = ProcessInfo.processInfo.environment
        guard environment["SITUATIONS"] == nil, environment["SITUATION_VARIANTS"] != "all" else {
            return SituationCase.named
        }
        // Neighbouring situations use different variants, so that together they cover every line and every user.
        return Situation.all.enumerated().map { index, situation in
            SituationCase(situation: situation, variant: situation.variants[index % situation.variants.count])
        }
    }()

    @Test(arguments: chosen)
    func `the verdict has the right place`(_ test: SituationCase) async throws {
        try await Self.gate.run { try await SituationRun.run(test) }
    }

    @Test func `the identifiers of situations are unique`() {
        #expect(Set(Situation.all.map(\.id)).count == Situation.all.count)
    }

    /// In a world without servers.
    @Test(
        arguments: [
            Fact.noEcho(.gateway), .echo(.nobody), .tcp(.host, 80, .open), .tcp(.host, 80, .silent),
            .name(.resolver, .silent),
            .name(.resolver, .addresses(1)), .page(.host, 200), .chain(.anchor, "anchor.example", isGood: true),
        ]
    )
    func `plain packets contradict what is not so`(_ fact: Fact) async throws {
        try await Self.gate.run {
            let world = try await LabThread.detached { try World(.dual) }
            defer { world.close() }
            for family in [Family.ipv4, .ipv6] {
                let text = try await world[.pc].perform { try fact.contradiction(family, within: .seconds(1)) }
                #expect(text != nil)
            }
        }
    }
}
