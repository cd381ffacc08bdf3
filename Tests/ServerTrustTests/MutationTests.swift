import TestSupport
import Testing
import TrustForge

@testable import TrustFuzzer

/// Damaged certificates, chains, OCSP responses, lists, files and texts. ``TrustFuzzer`` defines which damage is allowed.
@Suite struct MutationTests {
    @Test(arguments: [UInt64(1), 2])
    func `damaged inputs cause no crash and no forbidden result`(seed: UInt64) throws {
        let directory = ScratchDirectory()
        let input = KeptInput("\(directory.path)/input")
        var mutations = Mutations(seed: seed)
        let forbidden = mutations.run(0..<MutationCount.value, keeping: input)
        #expect(forbidden == nil, "\(mutations.report)")
        withExtendedLifetime(directory) {}
    }

    @Test func `undamaged inputs are accepted`() {
        for (name, passed) in Mutations.seedsThatPass() { #expect(passed > 0, "\(name)") }
    }
}
