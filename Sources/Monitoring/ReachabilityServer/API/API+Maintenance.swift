import LinuxSupport
import NIOHTTP1
import ReachabilityLedger
import ReachabilityService

extension API {
    /// Returns the announced maintenance that has not ended, sorted by name. Configured maintenance is in `/v1/config`.
    func maintenances(_ query: Query) throws(Problem) -> Page {
        let now = service.clock.real()
        return try Page(of: service.planned, query, key: \.id, isAfter: { $0.id > $1 }) { $0.item(at: now) }
    }

    /// Returns the announced maintenance with a name.
    func maintenance(_ query: Query) throws(Problem) -> Item {
        let id = query["id"]
        guard let found = service.planned.first(where: { $0.id == id }) else { throw Self.noMaintenance(id) }
        return found.item(at: service.clock.real())
    }

    /// Announces maintenance, or replaces an announcement.
    func plan(_ query: Query) throws(Problem) -> WebAnswer {
        let (id, request) = (query["id"], query.request)
        guard PlannedMaintenance.isID(id) else {
            let form = "1 to 64 letters, digits, \".\", \"-\" and \"_\", and not . or .."
            throw Problem(.badRequest, "the name of maintenance must be \(form)")
        }
        let body = try RequestObject(request, keys: ["targets", "from", "for"])
        let now = service.clock.real()
        let targets = try body.texts("targets")
        if let targets, targets.isEmpty {
            throw Problem(.badRequest, "targets must not be empty; omit it for all targets")
        }
        let snapshot = service.snapshot
        for target in targets ?? [] { try checkTarget(target, snapshot) }
        let start = try Self.start(of: body) ?? now
        let length = try Self.length(of: body)
        guard start + length > now else { throw Problem(.badRequest, "the maintenance would end in the past") }
        guard start <= now + PlannedMaintenance.farthest else {
            throw Problem(.badRequest, "from must be at most \(DurationText.text(PlannedMaintenance.farthest)) ahead")
        }
        let maintenance = PlannedMaintenance(
            id: id,
            targets: targets.map(Set.init),
            start: start,
            length: length,
            author: request.author
        )
        guard let isNew = service.plan(maintenance) else {
            throw Problem(
                .conflict,
                "the maximum of \(PlannedMaintenance.countLimit) announcements is reached; cancel one first"
            )
        }
        return .one(maintenance.item(at: now), request, isNew ? .created : .ok, isTagged: false)
    }

    /// Cancels announced maintenance. If it has started, it ends now.
    func cancelMaintenance(_ query: Query) throws(Problem) -> WebAnswer {
        let id = query["id"]
        guard service.cancelMaintenance(id) else { throw Self.noMaintenance(id) }
        return WebAnswer(.noContent)
    }

    private static func start(of body: RequestObject) throws(Problem) -> Duration? {
        guard let text = try body.text("from") else { return nil }
        if let real = Timestamp.real(of: text) { return real }
        throw Problem(.badRequest, "from must be a time such as 2026-11-21T22:00:00Z, not \"\(text.printable)\"")
    }

    private static func length(of body: RequestObject) throws(Problem) -> Duration {
        let text = try body.text("for")
        if let length = text.flatMap({ DurationText.duration($0) }), length >= .seconds(1),
            length <= PlannedMaintenance.longest
        {
            return length
        }
        let longest = DurationText.text(PlannedMaintenance.longest)
        throw Problem(.badRequest, "for must be a duration such as 2h, from 1s to \(longest)")
    }

    private static func noMaintenance(_ id: String) -> Problem {
        Problem(.notFound, "there is no planned maintenance \"\(id.printable)\"; /v1/maintenance lists all")
    }
}

extension PlannedMaintenance {
    /// The JSON object in the API and in events.
    var object: JSONObject {
        var object = JSONObject()
        object.add("schema", 1)
        object.add("id", id)
        if let targets { object.add("targets", targets.sorted()) } else { object.add("targets", String?.none) }
        object.add("from", Timestamp(real: start))
        object.add("to", Timestamp(real: end))
        object.add("author", author)
        object.add("kind", "maintenance")
        return object
    }

    fileprivate func item(at now: Duration) -> Item {
        let names = targets.map { $0.sorted().map(\.printable).joined(separator: ", ") } ?? "all targets"
        let times = "\(Timestamp(real: start).text) to \(Timestamp(real: end).text)"
        let state = start <= now ? ", in progress" : ""
        return Item(key: id, object: object, text: "\(id): \(names), \(times)\(state), by \(author.printable)")
    }
}
