import LinuxSupport
import NetworkLab
import NetworkReachabilityTesting
import Testing

/// Long random histories, the same for every run, done to the fake kernel and to the real one. Needs root.
@Suite(.serialized) struct FakeKernelRandomTests {
    @Test(arguments: UInt64(1)...4)
    func answersAsLinuxDoes(_ seed: UInt64) throws {
        let kernels = try TwoKernels()
        var history = RandomHistory(seed: seed)
        var done: [String] = []
        let queries = HonestyScenario(name: "", commands: [], comparesEntriesOnly: true).queries
        for command in HonestyScenario.addresses { try kernels.run(command) }
        for _ in 0..<60 {
            let command = history.next()
            // What Linux refuses is not asked of the fake, which would end the program.
            guard try kernels.runIfPossible(command) else { continue }
            done.append(command)
            let differences = try kernels.differences(queries)
            guard differences.isEmpty else {
                Issue.record("after \(done.joined(separator: "; ")):\n\(differences.joined(separator: "\n"))")
                return
            }
        }
        #expect(done.count > 20, "too much was refused for this to mean anything")
    }
}
