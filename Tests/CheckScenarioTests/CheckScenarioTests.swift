import Foundation
import NetworkLab
import Testing

/// What `reachability check` says of networks that are broken, each in its way. A situation proves itself by plain packets before it
/// judges the command.
///
///     swift test --filter CheckScenarioTests                              as root, or inside `unshare -Urnm`
///     SITUATIONS=all-well,cable-out swift test --filter CheckScenarioTests    some of them
///     CHECK_TIMES=exact swift test --filter CheckScenarioTests              two at a time, within 3.5 s each
///     REACHABILITY_BINARY=none swift test --filter CheckScenarioTests     packets alone: are the networks what they claim to be?
@Suite("Situations of checks", .report)
struct CheckScenarioTests {
    /// They mostly wait.
    private static let gate = ConcurrencyGate(SituationRun.isExact ? 2 : 10)

    /// All, or those whose identifiers SITUATIONS names, separated by commas.
    static let chosen: [SituationCase] = {
        guard let names = ProcessInfo.processInfo.environment["SITUATIONS"]?.split(separator: ",") else {
            return SituationCase.all
        }
        return SituationCase.all.filter { test in names.contains { $0 == test.situation.id } }
    }()

    @Test("The place is right", arguments: chosen)
    func place(_ test: SituationCase) async throws {
        try await Self.gate.run { try await SituationRun.run(test) }
    }

    @Test("Identifiers are unique") func identifiers() {
        #expect(Set(Situation.all.map(\.id)).count == Situation.all.count)
    }

    /// In a world where nobody serves anything.
    @Test(
        "Plain packets contradict what is not so",
        arguments: [
            Fact.noEcho(.gateway), .echo(.nobody), .tcp(.host, 80, .open), .tcp(.host, 80, .silent),
            .name(.resolver, .silent),
            .name(.resolver, .addresses(1)), .page(.host, 200), .chain(.anchor, "anchor.example", isGood: true),
        ]
    )
    func contradiction(_ fact: Fact) async throws {
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
