import NIOHTTP1
import ReachabilityLedger
import ReachabilityService

// Access to the history. If it cannot be read, the functions throw a ``Problem``.

extension API {
    /// The outages in memory and in the history.
    var reader: OutageReader { OutageReader(service, history) }

    /// Reads from the history.
    ///
    /// - Throws: ``Problem`` if the history cannot be read.
    func reading<Value>(_ body: () throws -> Value) throws(Problem) -> Value {
        do { return try body() } catch {
            throw Problem(.serviceUnavailable, "cannot read the history; see /readyz for the reason")
        }
    }

    /// Returns the number of outages that match a filter; nil if there are more than 100,000, or if the history cannot be read.
    func outageTotal(_ filter: OutageFilter, _ snapshot: MonitoringService.Snapshot) -> Int? {
        // An open outage is always in memory. One that an earlier run left open ended with that run.
        guard !filter.isOpen, let store = history?.store else {
            return snapshot.accounting.outages(filter, upTo: snapshot.now, limit: .max, at: snapshot.now).count
        }
        let limit = 100_000
        guard let count = try? store.outageCount(filter, upTo: snapshot.now, limit: limit + 1), count <= limit else {
            return nil
        }
        return count
    }
}
