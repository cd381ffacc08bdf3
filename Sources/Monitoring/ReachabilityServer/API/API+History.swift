import NIOHTTP1
import ReachabilityLedger
import ReachabilityService

/// The history behind the API. A history that cannot be read is a ``Problem``.
extension API {
    private func reading<Value>(_ body: (OutageReader) throws -> Value) throws(Problem) -> Value {
        do { return try body(OutageReader(service, history)) } catch { throw Self.unreadable(error) }
    }

    /// The outages that a filter admits, the latest first.
    ///
    /// - Parameter after: Only outages that come after this one in that order.
    func outages(
        _ filter: OutageFilter = OutageFilter(),
        after: OutageKey? = nil,
        limit: Int,
        _ snapshot: MonitoringService.Snapshot
    ) throws(Problem) -> [ExplainedOutage] {
        try reading { try $0.outages(filter, after: after, limit: limit, snapshot) }
    }

    /// The number and the length of outages by attribution and cause, of this run only if the history cannot be read.
    func outageSums(_ filter: OutageFilter, _ snapshot: MonitoringService.Snapshot) -> [OutageSum] {
        OutageReader(service, history).outageSums(filter, snapshot)
    }

    /// The number of outages that a filter admits; nil if there are more than are counted for one request, or if the disk cannot be read.
    func outageTotal(_ filter: OutageFilter, _ snapshot: MonitoringService.Snapshot) -> Int? {
        // An outage that lasts is in memory. What an earlier run left open ended with that run.
        guard !filter.isOpen, let store = history?.store else {
            return snapshot.books.outages(filter, upTo: snapshot.now, limit: .max, at: snapshot.now).count
        }
        let limit = 100_000
        guard let count = try? store.outageCount(filter, upTo: snapshot.now, limit: limit + 1), count <= limit else {
            return nil
        }
        return count
    }

    /// The outage with an id; nil if there is none.
    func outage(with key: OutageKey, _ snapshot: MonitoringService.Snapshot) throws(Problem) -> ExplainedOutage? {
        try reading { try $0.outage(with: key, snapshot) }
    }

    /// The intervals of a target that overlap a window, the latest first: at least `limit` if there are as many.
    func intervals(
        of target: String,
        from: LedgerInstant,
        to: LedgerInstant,
        limit: Int,
        _ snapshot: MonitoringService.Snapshot
    ) throws(Problem) -> [LedgerInterval] {
        try reading { try $0.intervals(of: target, from: from, to: to, limit: limit, snapshot) }
    }

    static func unreadable(_ error: any Error) -> Problem {
        Problem(.serviceUnavailable, "the history cannot be read now; /readyz says why")
    }
}
