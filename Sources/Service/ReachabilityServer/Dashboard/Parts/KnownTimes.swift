import ReachabilityLedger
import ReachabilityService

/// How the targets' time was, of this run and of those before it, as far as it is known.
struct KnownTimes {
    private let api: API
    private let snapshot: MonitoringService.Snapshot

    init(_ api: API, _ snapshot: MonitoringService.Snapshot) {
        (self.api, self.snapshot) = (api, snapshot)
    }

    /// The intervals of a target that overlap a window, the earliest first. Where the disk cannot be read, those in memory: the page of
    /// the service says so.
    func intervals(of target: String, from: LedgerInstant, to: LedgerInstant) -> [LedgerInterval] {
        let known = try? api.intervals(of: target, from: from, to: to, limit: .max, snapshot)
        return known?.reversed() ?? snapshot.intervals(of: target)
    }

    /// How a window was spent, with the days of which only the sums are kept.
    func availability(of target: String, in window: BarWindow) -> Availability {
        let known = intervals(of: target, from: window.from, to: window.to)
        var availability = Availability(of: known, from: window.from, to: window.to)
        availability.add(settled(of: target, in: window))
        return availability
    }

    /// What a picture of a window shows: of the days of which only the sums are kept, their shares.
    func picture(of target: String, in window: BarWindow) -> [LedgerInterval] {
        let known = intervals(of: target, from: window.from, to: window.to)
        return known + settled(of: target, in: window).flatMap { $0.shares(around: known, until: window.to) }
    }

    /// The days from a moment until now.
    func days(of target: String, from start: LedgerInstant) -> [DayCalendar.Day] {
        (try? api.days(of: target, from: start, snapshot))
            ?? DayCalendar.days(from: start, snapshot.intervals(of: target), snapshot)
    }

    private func settled(of target: String, in window: BarWindow) -> [SettledDay] {
        (try? api.settledDays(of: target, from: window.from, to: window.to, snapshot)) ?? []
    }
}
