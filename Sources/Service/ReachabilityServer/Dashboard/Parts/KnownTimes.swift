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
        var availability = Availability(of: intervals(of: target, in: window), from: window.from, to: window.to)
        let settled = try? api.settledTime(of: target, from: window.from, to: window.to, snapshot)
        for (account, time) in settled ?? [] { availability.add(time, to: account) }
        return availability
    }

    func intervals(of target: String, in window: BarWindow) -> [LedgerInterval] {
        intervals(of: target, from: window.from, to: window.to)
    }
}
