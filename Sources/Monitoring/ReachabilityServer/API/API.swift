import LinuxSupport
import NIOHTTP1
import ReachabilityLedger
package import ReachabilityService

/// The interface of the service, version 1: what is answered to each request.
///
/// It is a function of what the service knows at the moment, and of the request.
package struct API: Sendable {
    let service: MonitoringService
    /// For example `0.1.0`.
    let version: String
    let access: Access
    /// How the server is used, for the metrics.
    let statistics: @Sendable () -> WebStatistics
    let counters: MonotonicCounters
    /// Reads the configuration again; nil where there is none.
    let reloader: Reloader?
    /// What is on the disk; nil where nothing is kept.
    let history: HistoryWriter?
    let feed: EventFeed
    /// How it goes with each notifier.
    let notifiers: @Sendable () -> [NotifierStatus]
    /// For the page of the network.
    let interfaces: InterfaceSource?
    /// Puts evidence into words; nil where nobody asks why.
    let evidenceWriter: EvidenceWriter?
    let memory = EvidenceMemory()
    let pages = PageCache()

    package init(
        _ service: MonitoringService,
        history: HistoryWriter? = nil,
        reloader: Reloader? = nil,
        version: String,
        access: Access = Access(),
        interfaces: InterfaceSource? = nil,
        evidence: EvidenceWriter? = nil,
        notifiers: @escaping @Sendable () -> [NotifierStatus] = { [] },
        statistics: @escaping @Sendable () -> WebStatistics
    ) {
        (self.service, self.history, self.version, self.statistics) = (service, history, version, statistics)
        self.access = access
        (self.reloader, self.interfaces, self.notifiers) = (reloader, interfaces, notifiers)
        evidenceWriter = evidence
        counters = MonotonicCounters()
        feed = EventFeed(service)
    }

    /// Whether the answer may have to be read from the disk.
    package static func readsDisk(_ request: WebRequest) -> Bool {
        switch try? Resource(request.path) {
        case .intervals, .outages, .outage, .availability, .availabilityOf, .page, .sheet, .checks, .report,
            .maintenance:
            true
        default: false
        }
    }

    /// Whether something is changed, which does not wait for what others read.
    package static func changesSomething(_ request: WebRequest) -> Bool {
        guard let resource = try? Resource(request.path) else { return false }
        return resource.isAction || [.PUT, .DELETE].contains(request.method)
    }

    /// Whether the kernel is asked for it, and DNS servers may have to be waited for.
    package static func asksKernel(_ request: WebRequest) -> Bool {
        if case .why? = try? Resource(request.path) { true } else { false }
    }

    /// Answers a request, whatever it is.
    package func answer(to request: WebRequest) -> WebAnswer {
        do {
            var request = request
            let resource = Result { () throws(Problem) in try Resource(request.path) }
            let isPage = if case .success(.page) = resource { true } else { false }
            try access.admit(&request, isPage: isPage)
            return try answer(to: request, resource.get())
        } catch {
            return error.answer(as: Representation(of: request))
        }
    }

    private func answer(to request: WebRequest, _ resource: Resource) throws(Problem) -> WebAnswer {
        switch request.method {
        case .POST where resource.isAction:
            try AdminRule.check(request)
            return try act(resource, request)
        case .PUT, .DELETE:
            guard case .maintenance(let id) = resource else { throw Self.refusal(resource, request) }
            try AdminRule.check(request)
            return try request.method == .PUT ? plan(id, request) : cancelMaintenance(id)
        case .GET where !resource.isAction, .HEAD where !resource.isAction: return try read(resource, request)
        case .OPTIONS:
            var answer = WebAnswer(.noContent)
            answer.headers.append(("Allow", resource.methods))
            return answer
        default: throw Self.refusal(resource, request)
        }
    }

    private static func refusal(_ resource: Resource, _ request: WebRequest) -> Problem {
        Problem(
            .methodNotAllowed,
            "/\(request.path.joined(separator: "/")) takes \(resource.methods)",
            headers: [("Allow", resource.methods)]
        )
    }

    private func act(_ resource: Resource, _ request: WebRequest) throws(Problem) -> WebAnswer {
        switch resource {
        case .check(let name): try check(name, request)
        case .note(let id): try note(on: id, request)
        default: try reload(as: Representation(of: request))
        }
    }

    private func read(_ resource: Resource, _ request: WebRequest) throws(Problem) -> WebAnswer {
        let query = Query(request)
        switch resource {
        case .reload, .check, .note: return WebAnswer(.noContent)
        case .health: return .healthy
        case .readiness: return readiness()
        case .metrics: return metrics(request)
        case .probe: return try probe(query, request)
        case .description: return description(request)
        case .status: return .one(status()).unstored
        case .targets: return try .list(targets(query), query, request)
        case .target(let name): return .one(try target(name), request)
        case .intervals(let name): return try .list(intervals(of: name, query), query, request)
        case .checks(let name): return try .list(checks(of: name, query), query, request)
        case .outages: return try .list(outages(query), query, request)
        case .outage(let id): return .one(try outage(id), request)
        case .report(let id): return try report(id, query, request)
        case .why(let name):
            try query.checkNames()
            return .one(try why(name), request).unstored
        case .configuration: return .one(configuration(), request).unstored
        case .maintenances: return try .list(maintenance(query), query, request)
        case .maintenance(let id): return .one(try maintenance(id), request)
        case .stream: return try stream(query, request)
        case .events: return try feed.events(query, request)
        case .page(let name): return try cachedPage(name, query, request)
        case .sheet(let sheet): return try self.sheet(sheet, query)
        case .asset(let name): return try Asset.answer(name, request)
        case .availability: return try .list(availability(query, of: nil), query, request)
        case .availabilityOf(let name): return try .list(availability(query, of: name), query, request)
        }
    }

    /// What can be asked for, in the words of OpenAPI 3.1: `openapi.json`, as it stands beside this file.
    private func description(_ request: WebRequest) -> WebAnswer {
        WebAnswer(type: Representation.json.contentType, PackageResources.openapi_json).tagged(for: request)
    }
}

extension API {
    /// What the checks of a target came to, the latest first: the last two weeks by five minutes, what is older by the hour.
    func checks(of name: String, _ query: Query) throws(Problem) -> Page {
        let snapshot = service.snapshot
        try checkTarget(name, snapshot)
        let (from, to) = try window(query, snapshot)
        let limit = try query.limit
        let found = try buckets(of: name, from: from, to: to, limit: limit + 1)
        let items = found.prefix(limit).map { snapshot.item(of: $0) }
        return Page(items, next: found.count > limit ? items.last?.key : nil)
    }

    /// The latest first. What is in memory comes before what was written of the same run.
    func buckets(
        of name: String,
        from: LedgerInstant,
        to: LedgerInstant,
        limit: Int
    ) throws(Problem) -> [CheckBucket] {
        let memory = service.checkLog.buckets(of: name).reversed().filter { $0.start >= from && $0.start < to }
        guard let store = history?.store else { return Array(memory.prefix(limit)) }
        do {
            var found: [LedgerInstant: CheckBucket] = [:]
            let first = service.checkLog.buckets(of: name).first?.start
            let written = try store.buckets(
                of: name,
                from: from,
                to: to,
                butOf: history?.run,
                since: first,
                limit: limit
            )
            for bucket in written { found[bucket.start] = bucket }
            for bucket in memory {
                var whole = bucket
                // Of an earlier run, which ended within it.
                if let written = found[bucket.start] { whole.merge(written) }
                found[bucket.start] = whole
            }
            return found.values.sorted { $0.start > $1.start }.prefix(limit).map(\.self)
        } catch {
            throw Problem(.serviceUnavailable, "the history cannot be read now; /readyz says why")
        }
    }

    /// Has a target checked now; what that finds is told as everything else is.
    func check(_ name: String, _ request: WebRequest) throws(Problem) -> WebAnswer {
        switch service.askForCheck(of: name) {
        case .accepted:
            var object = JSONObject()
            object.add("schema", 1)
            object.add("target", name)
            object.add("accepted", true)
            object.add("kind", "check")
            return .one(Item(key: name, object: object, text: "\(name.printable): a check begins"), request, .accepted)
        case .tooSoon:
            throw Problem(
                .tooManyRequests,
                "it was asked for a moment ago: once a second",
                headers: [("Retry-After", "1")]
            )
        case .noPath:
            throw Problem(.conflict, "the kernel has no path to \"\(name.printable)\", so nothing is sent")
        case .notChecked:
            if service.snapshot.books.accounts[name] == nil { throw Self.noTarget(name) }
            throw Problem(.conflict, "\"\(name.printable)\" is not checked: its configuration has no checks")
        }
    }
}

extension MonitoringService.Snapshot {
    func item(of bucket: CheckBucket) -> Item {
        var object = JSONObject()
        // The clocks of people are a little ahead of the ledger's, or behind.
        let start = calendar.wall(at: bucket.start) + .milliseconds(500)
        object.add("start", Timestamp(real: .seconds(start.components.seconds)))
        object.add("seconds", bucket.length.components.seconds)
        object.add("checks", bucket.count)
        var failures = JSONObject()
        for (reason, count) in bucket.failures.sorted(by: { $0.key < $1.key }) { failures.add(reason, count) }
        object.add("failed", bucket.failures.values.reduce(0, +))
        object.add("failures", failures)
        var latency: JSONObject?
        if let fastest = bucket.fastest, let slowest = bucket.slowest {
            var figures = JSONObject()
            let named = [
                ("min", fastest), ("median", bucket.latency(0.5) ?? fastest), ("p95", bucket.latency(0.95) ?? slowest),
                ("max", slowest),
            ]
            for (name, value) in named { figures.add(name, value.nanoseconds / 1000) }
            latency = figures
        }
        object.add("latencyMicroseconds", latency)
        let median = bucket.latency(0.5).map { ", median \($0.people)" } ?? ""
        let failed = bucket.failures.values.reduce(0, +)
        return Item(
            key: String(bucket.start.nanoseconds),
            object: object,
            text: "\(time(bucket.start).text) \(bucket.count) checks, \(failed) failed\(median)"
        )
    }
}

extension API {
    /// Writes a note about an outage. It is in the history soon, and in every answer from now on.
    func note(on id: String, _ request: WebRequest) throws(Problem) -> WebAnswer {
        let text = try RequestObject(request, keys: ["text"]).text("text")
        guard let text, OutageNote.isText(text) else {
            throw Problem(
                .badRequest,
                "text is the note: 1 to \(OutageNote.textLimit) characters, none of them a control character"
            )
        }
        let snapshot = service.snapshot
        let explained = try explained(id, snapshot)
        guard explained.notes.count < OutageNote.countLimit else {
            throw Problem(.conflict, "an outage has \(OutageNote.countLimit) notes at most, and this one has them")
        }
        let note = service.note(text, by: request.author, on: explained.outage)
        var object = JSONObject()
        object.add("schema", 1)
        object.add("outage", note.outage)
        object.add(snapshot.object(of: note))
        object.add("kind", "note")
        let lines = snapshot.lines(of: note).joined(separator: "\n")
        return .one(Item(key: note.outage, object: object, text: "\(note.outage): \(lines)"), request, .created)
    }
}

extension WebRequest {
    /// Who asks: the name of the user, else its number; the name of the token, or of the certificate.
    var author: String {
        switch way {
        case .local(let user, _): user.map { UserName.of($0) ?? String($0) } ?? ""
        case .loopback: token?.name ?? ""
        case .secured(let certificate): token?.name ?? certificate ?? ""
        }
    }
}

extension MonitoringService.Snapshot {
    /// For example `2026-11-21T08:15:30.123Z note of root: the cable was bitten`.
    func lines(of note: OutageNote) -> [String] {
        let lines = note.text.split(at: "\n", omittingEmptySubsequences: false).map { String($0).printable }
        let head = "\(time(note.instant).text) note of \(note.author.printable): \(lines[0])"
        return [head] + lines.dropFirst().map { "  " + $0 }
    }
}
