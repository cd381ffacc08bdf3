import KernelLab
import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityRetry
import Testing

/// Verdicts, and their conversion from network paths.
@Suite struct VerdictTests {
    @Test(arguments: [
        RetryVerdict(status: .reachable, generation: 7): "reachable",
        .unknown: "unknown",
        RetryVerdict(status: .notReachable, reason: .nameNotResolved): "not reachable, name not resolved",
        RetryVerdict(status: .notReachable, reason: .init(rawValue: "lost", words: "the ferry is gone")):
            "not reachable, the ferry is gone",
        RetryVerdict(status: .unknown, reason: .init(rawValue: "lost")): "unknown, lost",
    ])
    func `the description contains the status and the reason`(verdict: RetryVerdict, text: String) {
        #expect(verdict.description == text)
    }

    @Test func `reasons are compared by name`() {
        #expect(RetryVerdict.Reason(rawValue: "nameNotResolved") == .nameNotResolved)
        #expect(Set([RetryVerdict.Reason.nameNotResolved, .init(rawValue: "nameNotResolved")]).count == 1)
    }

    @Test func `a verdict keeps the name and the text of the path's reason`() throws {
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
