import Foundation
import NetworkLab
import Testing

/// The product against packets: every known way in which Linux gains or loses the network.
///
///     Scripts/test -- --filter ^ScenarioTests                              all scenarios
///     SCENARIOS=b1,x2 Scripts/test -- --filter ^ScenarioTests              some scenarios
///     REACHABILITY_BINARY=none Scripts/test -- --filter ^ScenarioTests     packets only: are the claims true?
///     REACHABILITY_BINARY=/usr/bin/reachability Scripts/test -- --filter ^ScenarioTests
@Suite(.report)
struct ScenarioTests {
    /// Few at a time: each has two watching processes and asks many questions.
    private static let gate = ConcurrencyGate(6)

    /// All scenarios, or those whose identifiers SCENARIOS names, separated by commas.
    static let chosen: [Scenario] = {
        guard let names = ProcessInfo.processInfo.environment["SCENARIOS"]?.split(separator: ",") else {
            return Scenario.all
        }
        return Scenario.all.filter { scenario in names.contains { $0 == scenario.id } }
    }()

    @Test("The product agrees with packets", arguments: chosen)
    func agreement(scenario: Scenario) async throws {
        try await ScenarioTests.gate.run(alone: scenario.alone) {
            let outcome = try await LabThread.detached { ScenarioRun.outcome(of: scenario) }
            Report.add(outcome, of: scenario)
            for finding in outcome.findings where finding.kind != .skipped {
                Issue.record("\(finding.kind.rawValue): \(finding.text)")
            }
        }
    }

    @Test("Identifiers are unique") func identifiers() {
        #expect(Set(Scenario.all.map(\.id)).count == Scenario.all.count)
    }
}
