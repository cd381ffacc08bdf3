import LinuxPrimitives
import ReachabilityLedger

/// Keeps counters of time from going back.
///
/// An event of the kernel becomes known a moment after it was received, and then the time since counts for another state. Who asked in
/// between was told more of the old one; a counter that goes back would be taken for a restart, so it stands still until it is
/// right again.
final class MonotonicCounters: Sendable {
    private struct Key: Hashable {
        let target: String
        let account: LedgerAccount
    }

    private let told = Locked<[Key: Duration]>([:])

    /// What may be told of a counter that stands at `value`.
    func value(_ target: String, _ account: LedgerAccount, _ value: Duration) -> Duration {
        told.withLock { told in
            let largest = max(value, told[Key(target: target, account: account)] ?? .zero)
            told[Key(target: target, account: account)] = largest
            return largest
        }
    }
}
