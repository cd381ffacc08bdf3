import LinuxSupport
import Netlink
import ReachabilityOutbox

/// Sends until its task is cancelled.
final class StubbornSender: OutboxSender {
    private let state = Locked(false)

    var hasBegun: Bool { state.withLock { $0 } }

    func send(_ delivery: OutboxDelivery) async -> OutboxResult {
        state.withLock { $0 = true }
        while !Task.isCancelled { await Task.yield() }
        return .retry(after: nil)
    }
}
