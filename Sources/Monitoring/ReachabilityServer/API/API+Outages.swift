import LinuxSupport
import NIOHTTP1
import ReachabilityLedger
import ReachabilityService

/// Which outages a list has.
private enum OutageState: String, CaseIterable {
    case open, any
}

extension API {
    /// The outages, the latest first.
    func outages(_ query: Query) throws(Problem) -> Page {
        let snapshot = service.snapshot
        let target = query.text("target")
        if let target { try checkTarget(target, snapshot) }
        var filter = OutageFilter(target: target)
        filter.attribution = try query.word("attribution", Attribution.self)
        filter.cause = query.text("cause").map { OutageCause(rawValue: $0) }
        filter.isOpen = try query.word("state", OutageState.self) == .open
        filter.from = try query.instant("from", snapshot.calendar)
        filter.to = try query.instant("to", snapshot.calendar)
        let after = query.after.flatMap { OutageKey($0) }
        if let text = query.after, after == nil {
            throw Problem(.badRequest, "after is the id of an outage, not \"\(text.printable)\"")
        }
        let limit = try query.limit
        let found = try outages(filter, after: after, limit: limit + 1, snapshot)
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
        let found =
            id == "latest"
            ? try outages(limit: 1, snapshot).first
            : try OutageKey(id).flatMap { key throws(Problem) in try outage(with: key, snapshot) }
        if let found { return found }
        if id == "latest" { throw Problem(.notFound, "there was no outage yet") }
        throw Problem(.notFound, "there is no outage \"\(id.printable)\"; /v1/outages has those there are")
    }
}
