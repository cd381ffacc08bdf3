import NIOHTTP1
import ReachabilityLedger
import ReachabilityService

// Access to the history. If it cannot be read, the functions throw a ``Problem``.

extension API {
    private func reading<Value>(_ body: (OutageReader) throws -> Value) throws(Problem) -> Value {
        do { return try body(OutageReader(service, history)) } catch { throw Self.unreadable(error) }
    }

    /// Returns the outages that match a filter, latest first.
    ///
    /// - Parameter after: The last outage of the previous page. Only outages that follow it in the order are returned.
    func outages(
        _ filter: OutageFilter = OutageFilter(),
        after: OutageKey? = nil,
        limit: Int,
        _ snapshot: MonitoringService.Snapshot
    ) throws(Problem) -> [ExplainedOutage] {
        try reading { try $0.outages(filter, after: after, limit: limit, snapshot) }
    }

    /// Returns the number and the total duration of outages by attribution and cause. If the history cannot be read, only outages of this
    /// run are counted.
    func outageSums(_ filter: OutageFilter, _ snapshot: MonitoringService.Snapshot) -> [OutageSum] {
        OutageReader(service, history).outageSums(filter, snapshot)
    }

    /// Returns the number of outages that match a filter; nil if there are more than 100,000, or if the history cannot be read.
    func outageTotal(_ filter: OutageFilter, _ snapshot: MonitoringService.Snapshot) -> Int? {
        // An open outage is always in memory. One that an earlier run left open ended with that run.
        guard !filter.isOpen, let store = history?.store else {
            return snapshot.books.outages(filter, upTo: snapshot.now, limit: .max, at: snapshot.now).count
        }
        let limit = 100_000
        guard let count = try? store.outageCount(filter, upTo: snapshot.now, limit: limit + 1), count <= limit else {
            return nil
        }
        return count
    }

    /// Returns the outage with an id; nil for an unknown id.
    func outage(with key: OutageKey, _ snapshot: MonitoringService.Snapshot) throws(Problem) -> ExplainedOutage? {
        try reading { try $0.outage(with: key, snapshot) }
    }

    /// Returns the intervals of a target that overlap a window, latest first.
    ///
    /// - Parameter limit: The maximum number of intervals that are read from the history. Those in memory are always returned.
    func intervals(
        of target: String,
        from: LedgerInstant,
        to: LedgerInstant,
        limit: Int,
        _ snapshot: MonitoringService.Snapshot
    ) throws(Problem) -> [LedgerInterval] {
        try reading { try $0.intervals(of: target, from: from, to: to, limit: limit, snapshot) }
    }

    /// Returns the problem for a history that cannot be read.
    static func unreadable(_ error: any Error) -> Problem {
        Problem(.serviceUnavailable, "cannot read the history; see /readyz for the reason")
    }
}
