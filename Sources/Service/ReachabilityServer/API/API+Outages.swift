import LinuxPrimitives
import NIOHTTP1
import ReachabilityLedger
import ReachabilityService

extension API {
    /// The outages, the latest first.
    func outages(_ query: Query) throws(Problem) -> Page {
        let snapshot = service.snapshot
        let target = query.text("target")
        if let target { try checkTarget(target, snapshot) }
        let attribution = try query.word("attribution", Attribution.self)
        let (from, to) = (try query.instant("from", snapshot.calendar), try query.instant("to", snapshot.calendar))
        let after = query.after.flatMap { OutageKey($0) }
        if let text = query.after, after == nil {
            throw Problem(.badRequest, "after is the id of an outage, not \"\(text.printable)\"")
        }
        let limit = try query.limit
        var found: [ExplainedOutage] = []
        var start = after.map { LedgerInstant(nanoseconds: $0.start) } ?? snapshot.now
        // Batch by batch, for some are left out.
        while found.count <= limit {
            let batch = try outages(of: target, upTo: start, limit: limit + 1, snapshot)
            found += batch.filter { explained in
                let outage = explained.outage
                if let after, let key = OutageKey(outage.id), key <= after { return false }
                if let attribution, outage.deciding(at: snapshot.now).state.attribution != attribution { return false }
                return from.map { (outage.end ?? snapshot.now) > $0 } ?? true && to.map { outage.start < $0 } ?? true
            }
            guard let last = batch.last?.outage.start, batch.count > limit, from.map({ last >= $0 }) ?? true else {
                break
            }
            start = LedgerInstant(nanoseconds: last.nanoseconds - 1)
        }
        let page = found.prefix(limit).map { snapshot.item(of: $0) }
        return Page(page, next: found.count > limit ? page.last?.key : nil)
    }

    /// One outage, by its id; or the latest.
    func outage(_ id: String) throws(Problem) -> Item {
        let snapshot = service.snapshot
        return snapshot.item(of: try explained(id, snapshot))
    }

    /// The same, with why it was so.
    func explained(_ id: String, _ snapshot: MonitoringService.Snapshot) throws(Problem) -> ExplainedOutage {
        let start = id == "latest" ? snapshot.now : OutageKey(id).map { LedgerInstant(nanoseconds: $0.start) }
        if let start {
            let outages = try outages(of: nil, upTo: start, limit: 1, snapshot)
            if let found = outages.first(where: { $0.outage.id == id || id == "latest" }) { return found }
        }
        if id == "latest" { throw Problem(.notFound, "there was no outage yet") }
        throw Problem(.notFound, "there is no outage \"\(id.printable)\"; /v1/outages has those there are")
    }
}

/// The order of outages, the latest first, as their ids tell it.
private struct OutageKey: Comparable {
    let start: Int64
    private let id: String

    init?(_ id: String) {
        let parts = id.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let start = Int64(parts[0], radix: 36) else { return nil }
        (self.start, self.id) = (start, id)
    }

    static func < (left: Self, right: Self) -> Bool { (right.start, left.id) < (left.start, right.id) }
}
