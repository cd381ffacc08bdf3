import Netlink

@testable import KernelLab
@testable import NetworkReachabilityTesting

extension FakeKernel {
    /// Changes of which no message arrives at all, not even of their loss.
    func overrunSilently(_ changes: () throws -> Void) rethrows {
        state.withLock { $0.losesHints = true }
        defer { state.withLock { $0.losesHints = false } }
        try changes()
    }
}
