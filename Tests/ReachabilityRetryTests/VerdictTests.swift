import KernelLab
import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityRetry
import Testing

/// Verdicts and the paths they stand for.
@Suite struct VerdictTests {
    @Test(arguments: [
        RetryVerdict(status: .reachable, generation: 7): "reachable",
        .unknown: "unknown",
        RetryVerdict(status: .notReachable, reason: .nameNotResolved): "not reachable, name not resolved",
        RetryVerdict(status: .notReachable, reason: .init(rawValue: "lost", words: "the ferry is gone")):
            "not reachable, the ferry is gone",
        RetryVerdict(status: .unknown, reason: .init(rawValue: "lost")): "unknown, lost",
    ])
    func `it says what is so`(verdict: RetryVerdict, text: String) {
        #expect(verdict.description == text)
    }

    @Test func `reasons are told apart by their names`() {
        #expect(RetryVerdict.Reason(rawValue: "nameNotResolved") == .nameNotResolved)
        #expect(Set([RetryVerdict.Reason.nameNotResolved, .init(rawValue: "nameNotResolved")]).count == 1)
    }

    @Test func `a path keeps its reason, by name and in words`() throws {
        let kernel = FakeKernel()
        let manager = try NetworkReachabilityManager(address: try #require(IPAddress("198.51.100.1")), kernel: kernel)
        let verdict = RetryVerdict(manager.path)
        #expect(verdict.status == .notReachable && verdict.generation == manager.path.generation)
        #expect(verdict.reason?.rawValue == manager.path.reason?.rawValue && verdict.reason != nil)
        #expect(verdict.reason?.description == manager.path.reason?.description)
        kernel.addLink("eth0")
        kernel.addAddress("192.0.2.7/24", to: "eth0")
        kernel.addRoute("default", via: "192.0.2.1")
        #expect(RetryVerdict(manager.path).status == .reachable && RetryVerdict(manager.path).reason == nil)
    }
}
