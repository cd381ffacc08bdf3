import LinuxSupport
import NIOHTTP1
import ReachabilityFleet
import ReachabilityServer
import ReachabilityService

extension HubAPI {
    /// The incidents, the latest first.
    func incidents(_ query: Query) throws(Problem) -> Page {
        let limit = try query.limit
        let asked = IncidentQuery(
            site: query.text("site"),
            device: query.text("device"),
            isOpen: try query.word("state", Openness.self) == .open,
            after: query.after,
            limit: limit + 1
        )
        let found = try disk { () throws(HistoryFault) in
            // The page after one that is not there would look like the end.
            if let after = asked.after, try store.incident(after) == nil { return [IncidentSummary]?.none }
            return try store.incidents(asked)
        }
        guard let found else {
            throw Problem(
                .badRequest,
                "after is what next was: there is no incident \"\(query.after?.printable ?? "")\""
            )
        }
        if let site = asked.site, found.isEmpty, !keeper.hub.devices.keys.contains(where: { $0.site == site }) {
            throw Self.noSite(site)
        }
        let now = clock()
        let items = found.prefix(limit).map { $0.item(at: now) }
        return Page(items, next: found.count > limit ? items.last?.key : nil)
    }

    /// One incident, with what befell each machine.
    func incident(_ id: String) throws(Problem) -> Item {
        let found = try disk { () throws(HistoryFault) in try store.incident(id) }
        guard let found else {
            throw Problem(.notFound, "there is no incident \"\(id.printable)\"; /v1/incidents has those there are")
        }
        return found.item(at: clock())
    }

    private enum Openness: String, CaseIterable {
        case open, any
    }
}
