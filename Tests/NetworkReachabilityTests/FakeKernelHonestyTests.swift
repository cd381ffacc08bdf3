import LinuxSupport
import NetworkLab
import NetworkReachabilityTesting
import Testing

/// The fake kernel and the real one are given the same commands and asked the same questions. Needs root.
@Suite(.serialized) struct FakeKernelHonestyTests {
    @Test(arguments: HonestyScenario.all)
    func answersAsLinuxDoes(_ scenario: HonestyScenario) throws {
        var surplus: [String] = []
        // What the kernel does later by itself, on a busy machine much later, may tell of the preparation once more.
        for _ in 0..<3 {
            surplus = try run(scenario)
            if surplus.isEmpty { return }
        }
        Issue.record("\(surplus.joined(separator: "\n"))")
    }

    /// Says what only the real kernel told of.
    private func run(_ scenario: HonestyScenario) throws -> [String] {
        let kernels = try TwoKernels()
        for command in HonestyScenario.addresses + scenario.preparation { try kernels.run(command) }
        try compare(kernels, scenario, after: "the preparation")
        _ = kernels.hints()
        var surplus: [String] = []
        for command in scenario.commands {
            try kernels.run(command)
            try compare(kernels, scenario, after: command)
            let hints = kernels.hints()
            #expect(hints.real.subjects.isSuperset(of: hints.fake.subjects), "not told of \(command): \(hints)")
            if hints.real.subjects != hints.fake.subjects { surplus.append("told of \(command): \(hints)") }
        }
        return surplus
    }

    private func compare(_ kernels: TwoKernels, _ scenario: HonestyScenario, after change: String) throws {
        let differences = try kernels.differences(scenario.queries)
        if !differences.isEmpty { Issue.record("after \(change):\n\(differences.joined(separator: "\n"))") }
    }
}
