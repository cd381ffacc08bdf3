import Foundation
import NetworkLab
import Testing

/// Compares the product's reports with the results of packets, for every known way in which Linux gains or loses the
/// network.
///
///     Scripts/test -- --filter ^ScenarioTests                              all scenarios
///     SCENARIOS=b1,x2 Scripts/test -- --filter ^ScenarioTests              some scenarios
///     REACHABILITY_BINARY=none Scripts/test -- --filter ^ScenarioTests     packets only: are the claims true?
///     REACHABILITY_BINARY=/usr/bin/reachability Scripts/test -- --filter ^ScenarioTests
@Suite struct ScenarioTests {
    /// Limits the number of concurrent scenarios, because each has two watching processes and starts many commands.
    private static let gate = ConcurrencyGate(6)

    /// All scenarios, or those whose identifiers SCENARIOS names, separated by commas.
    static let chosen: [Scenario] = {
        guard let names = ProcessInfo.processInfo.environment["SCENARIOS"]?.split(separator: ",") else {
            return Scenario.all
        }
        return Scenario.all.filter { scenario in names.contains { $0 == scenario.id } }
    }()

    @Test(arguments: chosen)
    func `the product reports the targets that packets reach`(scenario: Scenario) async throws {
        try await ScenarioTests.gate.run(alone: scenario.alone) {
            for finding in try await LabThread.detached({ ScenarioRun.findings(of: scenario) }) {
                Issue.record("\(finding.kind.rawValue): \(finding.text)")
            }
        }
    }

    @Test func `identifiers are unique`() {
        #expect(Set(Scenario.all.map(\.id)).count == Scenario.all.count)
    }
}

/// Tests of the laboratory itself.
@Suite struct LabTests {
    @Test func `the oracle distinguishes silence from an answer`() async throws {
        let reachable = try await LabThread.detached {
            let lab = try Topology(.one)
            defer { lab.close() }
            let asked = ["10.1.0.1", "10.1.0.99", "203.0.113.7"]
            return try lab.oracle.reachable(of: asked, expecting: ["10.1.0.1"])
        }
        #expect(reachable == ["10.1.0.1"])
    }
}
