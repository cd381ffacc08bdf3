import LinuxSupport
import ReachabilityLedger
import ReachabilityService

extension SettledDay {
    /// Its times one after the other, as a picture shows them: how long each was is so, when it was is not known.
    ///
    /// - Parameters:
    ///   - known: Intervals that are kept, the earliest first: what they have of the day is theirs.
    ///   - end: When the picture ends.
    func shares(around known: some Sequence<LedgerInterval>, until end: LedgerInstant) -> [LedgerInterval] {
        var free = gaps(between: known, until: end)[...]
        var shares: [LedgerInterval] = []
        for account in LedgerAccount.allCases where account != .unknown {
            var rest = times[account] ?? .zero
            while rest > .zero, let gap = free.first {
                let to = min(gap.to, gap.from + rest)
                shares.append(LedgerInterval(TargetState(account), from: gap.from, to: to))
                rest = rest - (to - gap.from)
                free[free.startIndex].from = to
                if to == gap.to { free.removeFirst() }
            }
        }
        return shares
    }

    /// What no interval has of it.
    private func gaps(
        between known: some Sequence<LedgerInterval>,
        until end: LedgerInstant
    ) -> [(from: LedgerInstant, to: LedgerInstant)] {
        let end = min(end, start + Self.length)
        var gaps: [(from: LedgerInstant, to: LedgerInstant)] = []
        var from = start
        for interval in known where interval.end ?? end > start && interval.start < end {
            if interval.start > from { gaps.append((from, interval.start)) }
            from = max(from, interval.end ?? end)
        }
        if from < end { gaps.append((from, end)) }
        return gaps
    }
}

extension TargetState {
    /// One whose time goes to an account.
    fileprivate init(_ account: LedgerAccount) {
        self.init(Attribution(rawValue: account.rawValue) ?? .unknown, isMaintenance: account == .maintenance)
    }
}
