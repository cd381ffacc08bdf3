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

    func intervals(of target: String, in window: BarWindow) -> [LedgerInterval] {
        intervals(of: target, from: window.from, to: window.to)
    }
}
