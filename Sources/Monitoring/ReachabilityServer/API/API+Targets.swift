import LinuxSupport
import NIOHTTP1
import NetworkReachability
import ReachabilityLedger
import ReachabilityService

extension API {
    /// Answers that the service is ready.
    func readiness() -> WebAnswer {
        var object = JSONObject()
        object.add("schema", 1)
        object.add("ready", true)
        object.add("targets", service.snapshot.accounting.accounts.count)
        object.add("history", history.map { Self.object(of: $0.status) })
        object.add("kind", "readiness")
        return WebAnswer.one(object).unstored
    }

    /// Returns the state of the history. A fault of the history does not make the service unready.
    private static func object(of status: HistoryWriter.Status) -> JSONObject {
        var object = JSONObject()
        object.add("state", status.fault?.kind.rawValue ?? "ok")
        object.add("detail", status.fault?.text)
        object.add("pending", status.pending)
        object.add("lost", status.lost)
        return object
    }

    /// Returns the JSON object of the service and all targets.
    func status(of snapshot: MonitoringService.Snapshot) -> JSONObject {
        var object = JSONObject()
        object.add("schema", 1)
        object.add("time", snapshot.time(snapshot.now))
        object.add("monotonicNanoseconds", service.clock.monitor.monotonic.nanoseconds)
        object.add("version", version)
        object.add("started", snapshot.time(service.start))
        object.add("boot", snapshot.calendar.current.line.bootIdentifier)
        object.add("targets", snapshot.accounting.targets.compactMap { snapshot.item(of: $0)?.object })
        object.add("notifiers", notifiers().map(\.object))
        object.add("kind", "status")
        return object
    }

    /// Returns a page of targets, sorted by name.
    func targets(_ query: Query) throws(Problem) -> Page {
        let snapshot = service.snapshot
        return try Page(of: snapshot.accounting.targets, query, key: \.self, isAfter: >) { snapshot.item(of: $0) }
    }

    /// Returns one target with the results of its latest checks.
    func target(_ query: Query) throws(Problem) -> Item {
        let (snapshot, name) = (service.snapshot, query["name"])
        guard let item = snapshot.item(of: name) else { throw Self.noTarget(name) }
        var object = item.object
        let latest = service.checkLog.latest(of: name)
        if !latest.isEmpty { object.add("latestChecks", latest.map { snapshot.object(of: $0) }) }
        let lines = latest.map { "  \(snapshot.time($0.ended).text) \($0.finding.sentence)" }
        return Item(
            key: item.key,
            object: object,
            text: item.text,
            report: ([item.text] + lines).joined(separator: "\n")
        )
    }

    /// Returns a page of the intervals of a target, latest first.
    func intervals(_ query: Query) throws(Problem) -> Page {
        let (snapshot, name) = (service.snapshot, query["name"])
        try checkTarget(name, snapshot)
        let (from, to) = try window(query, snapshot)
        let limit = try query.limit + 1
        let intervals = try reading {
            try reader.intervals(of: name, from: from, to: to, limit: limit, snapshot)
        }
        return try Page(
            of: intervals,
            query,
            key: { String($0.start.nanoseconds) },
            isAfter: { interval, key in Int64(key).map { interval.start.nanoseconds < $0 } ?? true }
        ) { snapshot.item(of: $0) }
    }

    /// Returns the time window of a page whose items are sorted latest first. It ends at the start of the last item of the previous page.
    func window(
        _ query: Query,
        _ snapshot: MonitoringService.Snapshot
    ) throws(Problem) -> (from: LedgerInstant, to: LedgerInstant) {
        let from = try query.instant("from", snapshot.calendar) ?? LedgerInstant(nanoseconds: .min)
        var to = try query.instant("to", snapshot.calendar) ?? LedgerInstant(nanoseconds: .max)
        if let after = query.after {
            guard let start = Int64(after) else {
                throw Problem(.badRequest, "after must be the next of the previous page, not \"\(after.printable)\"")
            }
            to = min(to, LedgerInstant(nanoseconds: start))
        }
        return (from, to)
    }

    /// Checks that a target exists.
    ///
    /// - Throws: ``Problem`` if neither the service nor the history has the target.
    func checkTarget(_ name: String, _ snapshot: MonitoringService.Snapshot) throws(Problem) {
        if snapshot.accounting.accounts[name] != nil { return }
        if let isKnown = try? history?.store?.hasTarget(name), isKnown { return }
        throw Self.noTarget(name)
    }

    /// Returns the problem for an unknown target.
    static func noTarget(_ name: String) -> Problem {
        Problem(.notFound, "there is no target \"\(name.printable)\"; /v1/targets lists all")
    }
}

extension MonitoringService.Snapshot {
    /// Returns the state of a target as JSON and text; nil for an unknown target.
    func item(of target: String) -> Item? {
        guard let account = accounting.accounts[target] else { return nil }
        let current = account.ledger.current
        var object = JSONObject()
        object.add("schema", 1)
        object.add("name", target)
        object.add(current.state)
        object.add("reason", current.reason)
        object.add("since", time(current.start))
        object.add("uncertaintyMilliseconds", current.uncertainty.nanoseconds / 1_000_000)
        object.add("outage", account.ledger.outage?.id)
        object.add("check", findings[target].map { self.object(of: $0) })
        let settings = targets[target]
        if let group = settings?.group { object.add("group", group) }
        if let tags = settings?.tags, !tags.isEmpty { object.add("tags", tags) }
        if let description = settings?.description { object.add("description", description) }
        if let watch = pushes[target] {
            var push = JSONObject()
            push.add("last", watch.last.map { self.object(of: $0) })
            push.add("due", watch.due.map { time($0).text })
            object.add("push", push)
        }
        object.add("kind", "target")
        let since = time(current.start).text
        let reason = current.reason.map { " (\($0))" } ?? ""
        return Item(key: target, object: object, text: "\(since) \(target.printable): \(current.state)\(reason)")
    }

    /// Returns an interval as JSON and text.
    func item(of interval: LedgerInterval) -> Item {
        Item(
            key: String(interval.start.nanoseconds),
            object: object(of: interval),
            text: "\(time(interval.start).text) "
                + "\(interval.duration(at: now).people) \(interval.state)\(interval.reason.map { " (\($0))" } ?? "")"
        )
    }
}
