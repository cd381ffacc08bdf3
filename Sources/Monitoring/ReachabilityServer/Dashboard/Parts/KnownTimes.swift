import ReachabilityLedger
import ReachabilityService

/// How the targets' time was, of this run and of those before it, as far as it is known.
struct KnownTimes {
    private let api: API
    private let snapshot: MonitoringService.Snapshot

    /// The maximum number of intervals of a target that are read one by one, not as sums of days. More cannot be distinguished in a picture.
    private let intervalLimit: Int

    /// - Parameter count: The number of targets on the page.
    init(_ api: API, _ snapshot: MonitoringService.Snapshot, of count: Int) {
        (self.api, self.snapshot) = (api, snapshot)
        intervalLimit = max(40, min(400, 4000 / max(1, count)))
    }

    /// The intervals of a target that overlap a window, the earliest first. If the disk cannot be read, those in memory: every
    /// page shows a fault of the history.
    func intervals(of target: String, from: LedgerInstant, to: LedgerInstant) -> [LedgerInterval] {
        let known = try? api.intervals(of: target, from: from, to: to, limit: Self.readLimit, snapshot)
        return known?.reversed() ?? snapshot.intervals(of: target)
    }

    /// How a window was, with the days of which only the sums are used.
    func times(of target: String, in window: BarWindow) -> TargetTimes {
        let known = try? api.times(
            of: target,
            from: window.from,
            to: window.to,
            exactUpTo: intervalLimit,
            snapshot
        )
        return known
            ?? TargetTimes(
                from: window.from,
                to: window.to,
                intervals: snapshot.intervals(of: target),
                days: [],
                basis: .path
            )
    }

    /// The days from a moment until now.
    func days(of target: String, from start: LedgerInstant) -> [DayCalendar.Day] {
        (try? api.days(of: target, from: start, exactUpTo: intervalLimit, snapshot))
            ?? DayCalendar.days(from: start, snapshot.intervals(of: target), snapshot)
    }

    private static let readLimit = 10_000
}
