import LinuxSupport
import NIOHTTP1
import ReachabilityLedger
import ReachabilityService

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
