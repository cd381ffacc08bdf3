import LinuxSupport
import NetworkLab
import Testing

/// Counts what all scenarios found and prints it when the suite ends.
struct Report: SuiteTrait, TestScoping {
    private struct Quorum {
        var scenarios = 0
        var checks = 0
        var findings: [(scenario: String, finding: Finding)] = []
        var slowest: [(scenario: String, duration: Duration)] = []
        var delays: [Duration] = []
    }

    private static let quorum = Locked(Quorum())

    static func add(_ outcome: ScenarioRun.Outcome, of scenario: Scenario) {
        quorum.withLock { quorum in
            quorum.scenarios += 1
            quorum.checks += outcome.checks
            quorum.delays += outcome.delays
            quorum.findings += outcome.findings.map { (scenario.testDescription, $0) }
            quorum.slowest.append((scenario.id, outcome.duration))
        }
    }

    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        let start = ContinuousClock.now
        defer { Report.show(after: .now - start) }
        try await function()
    }

    private static func show(after duration: Duration) {
        quorum.withLock { quorum in
            print("Scenarios: \(quorum.scenarios), checks: \(quorum.checks), seconds: \(duration.components.seconds)")
            for kind in Finding.Kind.allCases {
                let found = quorum.findings.filter { $0.finding.kind == kind }
                print("  \(kind.rawValue): \(found.count)")
                for (scenario, finding) in found {
                    print("    \(scenario): \(finding.text)")
                }
            }
            let delays = quorum.delays.sorted()
            if let last = delays.last {
                print("  from change to line: median \(delays[delays.count / 2]), longest \(last)")
            }
            for (scenario, duration) in quorum.slowest.sorted(by: { $0.duration > $1.duration }).prefix(5) {
                print("  slow: \(scenario) \(duration)")
            }
        }
    }
}

extension Trait where Self == Report {
    /// Prints the sum of all scenarios at the end.
    static var report: Self { Report() }
}
