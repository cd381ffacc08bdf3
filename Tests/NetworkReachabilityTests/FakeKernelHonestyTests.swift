import Netlink
import NetworkLab
import NetworkReachabilityTesting
import Testing

/// The fake kernel and the real one are given the same commands and asked the same questions. Needs root.
@Suite(.serialized) struct FakeKernelHonestyTests {
    @Test(arguments: HonestyScenario.all)
    func answersAsLinuxDoes(_ scenario: HonestyScenario) throws {
        let kernels = try TwoKernels()
        for command in HonestyScenario.addresses + scenario.preparation { try kernels.run(command) }
        try compare(kernels, scenario, after: "the preparation")
        _ = kernels.hints()
        for command in scenario.commands {
            try kernels.run(command)
            try compare(kernels, scenario, after: command)
            let hints = kernels.hints()
            #expect(hints.real.subjects == hints.fake.subjects, "told of \(command): \(hints)")
        }
    }

    private func compare(_ kernels: TwoKernels, _ scenario: HonestyScenario, after change: String) throws {
        let differences = try kernels.differences(scenario.queries)
        if !differences.isEmpty { Issue.record("after \(change):\n\(differences.joined(separator: "\n"))") }
    }
}
