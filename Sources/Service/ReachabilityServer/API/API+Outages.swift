import LinuxPrimitives
import NIOHTTP1
import ReachabilityLedger
import ReachabilityService

extension API {
    /// The outages, the latest first.
    func outages(_ query: Query) throws(Problem) -> Page {
        let snapshot = service.snapshot
        let target = query.text("target")
        if let target, snapshot.books.accounts[target] == nil { throw Self.noTarget(target) }
        let attribution = try query.word("attribution", Attribution.self)
        let (from, to) = (try query.instant("from", snapshot.calendar), try query.instant("to", snapshot.calendar))
        let outages = snapshot.books.outages(of: target).filter { outage in
            if let attribution, outage.deciding(at: snapshot.now).state.attribution != attribution { return false }
            return from.map { (outage.end ?? snapshot.now) > $0 } ?? true && to.map { outage.start < $0 } ?? true
        }
        if let after = query.after, OutageKey(after) == nil {
            throw Problem(.badRequest, "after is the id of an outage, not \"\(after.printable)\"")
        }
        return try Page(
            of: outages,
            query,
            key: \.id,
            isAfter: { outage, key in
                guard let (one, other) = OutageKey(outage.id).flatMap({ one in OutageKey(key).map { (one, $0) } })
                else {
                    return true
                }
                return other < one
            }
        ) { snapshot.item(of: $0) }
    }

    func outage(_ id: String) throws(Problem) -> Item {
        let snapshot = service.snapshot
        guard let outage = snapshot.books.outages().first(where: { $0.id == id }) else {
            throw Problem(.notFound, "there is no outage \"\(id.printable)\"; /v1/outages has those there are")
        }
        return snapshot.item(of: outage)
    }
}

/// The order of outages, the latest first, as their ids tell it.
private struct OutageKey: Comparable {
    let start: Int64
    let target: Substring

    init?(_ id: String) {
        let parts = id.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let start = Int64(parts[0], radix: 36) else { return nil }
        (self.start, target) = (start, parts[1])
    }

    static func < (left: Self, right: Self) -> Bool { (right.start, left.target) < (left.start, right.target) }
}

extension MonitoringService.Snapshot {
    /// An outage, whole.
    func item(of outage: Outage) -> Item {
        let deciding = outage.deciding(at: now)
        var object = JSONObject()
        object.add("schema", 1)
        object.add("id", outage.id)
        object.add("target", outage.target)
        object.add("attribution", deciding.state.attribution.rawValue)
        object.add("cause", deciding.state.cause?.rawValue)
        object.add("reason", deciding.reason)
        object.add("basis", deciding.state.basis.rawValue)
        object.add("start", Timestamp(real: calendar.wall(at: outage.start)))
        object.add("end", outage.end.map { Timestamp(real: calendar.wall(at: $0)).text })
        object.add("ending", outage.ending?.rawValue)
        object.add("durationMilliseconds", outage.duration(at: now).roundedMilliseconds)
        object.add("durationNanoseconds", outage.duration(at: now).nanoseconds)
        object.add("uncertaintyMilliseconds", outage.uncertainty.nanoseconds / 1_000_000)
        object.add("intervals", outage.intervals.map { self.object(of: $0) })
        object.add("evidence", [JSONObject]())
        object.add("actor", String?.none)
        object.add("kind", "outage")
        return Item(key: outage.id, object: object, text: text(of: outage, deciding))
    }

    /// For example `2026-11-21T08:15:30.123Z internet: us.link (noCarrier) for 4.001s, id`.
    private func text(of outage: Outage, _ deciding: LedgerInterval) -> String {
        let start = Timestamp(real: calendar.wall(at: outage.start)).text
        let reason = deciding.reason.map { " (\($0))" } ?? ""
        let length = outage.duration(at: now).people
        let lasting = outage.end == nil ? ", and goes on" : outage.ending == .unknown ? ", then unknown" : ""
        return "\(start) \(outage.target.printable): \(deciding.state)\(reason.printable) for \(length)\(lasting), "
            + outage.id
    }
}
