import LinuxSupport
import ReachabilityLedger

/// Keeps counters of time from going back.
///
/// An event of the kernel becomes known a moment after it was received, and then the time since counts for another state. Who asked in
/// between was told more of the old one; a counter that goes back would be taken for a restart, so it stands still until it is
/// right again.
final class MonotonicCounters: Sendable {
    private struct Key: Hashable {
        let target: String
        /// A target that was watched before has a new account.
        let start: LedgerInstant
        let account: LedgerAccount
    }

    private let told = Locked<[Key: Duration]>([:])

    /// What may be told of a counter that stands at `value`.
    func value(_ target: String, since start: LedgerInstant, _ account: LedgerAccount, _ value: Duration) -> Duration {
        let key = Key(target: target, start: start, account: account)
        return told.withLock { told in
            let largest = max(value, told[key] ?? .zero)
            told[key] = largest
            return largest
        }
    }
}
