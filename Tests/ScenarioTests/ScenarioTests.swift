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
@Suite(.report)
struct ScenarioTests {
    /// Limits the number of concurrent scenarios, because each has two watching processes and starts many commands.
    private static let gate = ConcurrencyGate(6)

    /// All scenarios, or those whose identifiers SCENARIOS names, separated by commas.
    static let chosen: [Scenario] = {
        guard let names = ProcessInfo.processInfo.environment["SCENARIOS"]?.split(separator: ",") else {
            return Scenario.all
        }
        return Scenario.all.filter { scenario in names.contains { $0 == scenario.id } }
    }()

    @Test("The product reports the targets that packets reach", arguments: chosen)
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

/// Tests of the laboratory itself.
@Suite struct LabTests {
    @Test("Child processes run in their namespace and return their exit status")
    func children() async throws {
        let namespace = try LabNamespace()
        let (links, status) = try await LabThread.detached {
            try namespace.ip("link add z0 type veth peer name z1")
            let result = try namespace.run("sh", ["-c", "ls /proc/sys/net/ipv4/conf; exit 7"])
            return (result.output.split(separator: "\n"), result.status)
        }
        #expect(Set(links) == ["all", "default", "lo", "z0", "z1"])
        #expect(status == 7)
    }

    @Test("A child process that exceeds the time limit is killed")
    func endlessChild() async throws {
        let status = try await LabThread.detached { try LabProcess("sleep", ["60"]).wait(within: .zero).status }
        #expect(status == -SIGKILL)
    }

    @Test("A failed command throws an error")
    func failingCommand() async throws {
        let namespace = try LabNamespace()
        await #expect(throws: LabError.self) {
            try await LabThread.detached { try namespace.ip("link set nowhere up") }
        }
    }

    @Test("A name of a namespace is created and removed", .enabled(if: access("/run", W_OK) == 0))
    func name() async throws {
        let path = try await LabThread.detached {
            let namespace = try LabNamespace()
            let name = try NamespaceName("lab-\(getpid())", for: namespace)
            let links = try LabNamespace().run("ip", ["-n", name.name, "-br", "link"])
            #expect(links.output.hasPrefix("lo "))
            name.remove()
            return name.path
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("The oracle distinguishes silence from an answer")
    func oracle() async throws {
        let reachable = try await LabThread.detached {
            let lab = try Topology(.one)
            defer { lab.close() }
            let asked = ["10.1.0.1", "10.1.0.99", "203.0.113.7"]
            return try lab.oracle.reachable(of: asked, expecting: ["10.1.0.1"])
        }
        #expect(reachable == ["10.1.0.1"])
    }
}
