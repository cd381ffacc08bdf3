import LinuxSupport
import NIOHTTP1
package import NetworkDiagnostics
package import NetworkReachability
import ReachabilityLedger
import ReachabilityService

extension API {
    /// Returns the statistics of a target's checks, latest first: in periods of five minutes for the last two weeks, and of an hour before
    /// that.
    func checks(_ query: Query) throws(Problem) -> Page {
        let (snapshot, name) = (service.snapshot, query["name"])
        try checkTarget(name, snapshot)
        let (from, to) = try window(query, snapshot)
        let limit = try query.limit
        let found = try buckets(of: name, from: from, to: to, limit: limit + 1)
        return Page(first: limit, of: found.map { snapshot.item(of: $0) })
    }

    /// Returns the buckets of a target's checks, latest first. Buckets of this run are read from memory where possible.
    func buckets(of name: String, from: LedgerInstant, to: LedgerInstant, limit: Int) throws(Problem) -> [CheckBucket] {
        let memory = service.checkLog.buckets(of: name).reversed().filter { $0.start >= from && $0.start < to }
        guard let store = history?.store else { return Array(memory.prefix(limit)) }
        let (run, first) = (history?.run, service.checkLog.buckets(of: name).first?.start)
        let written = try reading {
            try store.buckets(of: name, from: from, to: to, butOf: run, since: first, limit: limit)
        }
        var found = Dictionary(written.map { ($0.start, $0) }) { _, last in last }
        for bucket in memory {
            var whole = bucket
            // An earlier run ended within the period of this bucket.
            if let written = found[bucket.start] { whole.merge(written) }
            found[bucket.start] = whole
        }
        return found.values.sorted { $0.start > $1.start }.prefix(limit).map(\.self)
    }

    /// Starts a check of a target. Its result is published like that of any other check.
    func check(_ query: Query) throws(Problem) -> WebAnswer {
        let name = query["name"]
        switch service.requestCheck(of: name) {
        case .accepted:
            var object = JSONObject()
            object.add("schema", 1)
            object.add("target", name)
            object.add("accepted", true)
            object.add("kind", "check")
            let text = "\(name.printable): check started"
            return .one(Item(key: name, object: object, text: text), query.request, .accepted)
        case .tooSoon:
            throw Problem(
                .tooManyRequests,
                "a check was requested within the last second",
                headers: [("Retry-After", "1")]
            )
        case .noPath:
            throw Problem(.conflict, "cannot check \"\(name.printable)\": the kernel has no path to it")
        case .notChecked:
            guard let account = service.snapshot.accounting.accounts[name] else { throw Self.noTarget(name) }
            let isPaused = account.ledger.current.state.isPaused
            let why = isPaused ? "it is paused" : "its configuration has no checks"
            throw Problem(.conflict, "cannot check \"\(name.printable)\": \(why)")
        }
    }
}

extension MonitoringService.Snapshot {
    /// Returns the JSON object of the result of a check.
    func object(of check: CheckStatus) -> JSONObject {
        var object = JSONObject()
        object.add("place", check.finding.observation.place)
        object.add("reason", check.finding.observation.reason)
        object.add("confidence", check.finding.confidence)
        object.add("sentence", check.finding.sentence)
        object.add("time", time(check.ended))
        object.add("durationMilliseconds", (check.ended - check.begun).roundedMilliseconds)
        object.add("latencyMicroseconds", optional: check.finding.latency.map { Int($0.nanoseconds / 1000) })
        if let end = check.finding.certificateEnd { object.add("certificateEnd", Timestamp(real: end)) }
        return object
    }

    /// Returns a bucket as JSON and text.
    func item(of bucket: CheckBucket) -> Item {
        var object = JSONObject()
        // The start is rounded to seconds, because the wall clock differs slightly from the ledger's time.
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
        if let echoes = bucket.echoes {
            var figures = JSONObject()
            figures.add("sent", echoes.sent)
            figures.add("lost", echoes.lost)
            figures.add("jitterMicroseconds", optional: echoes.jitter.map { Int($0.nanoseconds / 1000) })
            object.add("pings", figures)
        }
        let median = bucket.latency(0.5).map { ", median \($0.people)" } ?? ""
        let failed = bucket.failures.values.reduce(0, +)
        let lost = bucket.echoes.map { ", \($0.lost) of \($0.sent) pings lost" } ?? ""
        return Item(
            key: String(bucket.start.nanoseconds),
            object: object,
            text: "\(time(bucket.start).text) \(bucket.count) checks, \(failed) failed\(median)\(lost)"
        )
    }
}

/// A function that encodes evidence from a network namespace as the JSON object of `reachability why --json`, in UTF-8.
package typealias EvidenceWriter = @Sendable (NetworkEvidence, NetworkNamespace) -> [UInt8]

extension API {
    /// Answers with the kernel's current evidence for the state of a target, and with the recorded state as `account`.
    func why(_ query: Query) throws(Problem) -> WebAnswer {
        try query.checkNames()
        let name = query["name"]
        guard let evidenceWriter else { throw Problem(.serviceUnavailable, "this server cannot query the kernel") }
        guard let evidence = memory.evidence(of: name, service, evidenceWriter) else {
            if service.snapshot.accounting.accounts[name] == nil { throw Self.noTarget(name) }
            throw Problem(.conflict, "cannot explain \"\(name.printable)\": its path is not observed")
        }
        let snapshot = service.snapshot
        guard let account = snapshot.item(of: name) else { throw Self.noTarget(name) }
        var object = JSONObject(encoded: evidence.object)
        object.add("account", account.object)
        let check = snapshot.findings[name].map { ["  \($0.finding.sentence.printable)"] } ?? []
        let report = ([account.text] + evidence.lines + check).joined(separator: "\n")
        return .one(Item(key: name, object: object, text: account.text, report: report), query.request).unstored
    }
}

/// A cache for the evidence of each target, so that frequent requests do not query the kernel each time. Thread-safe.
final class EvidenceMemory: Sendable {
    /// The encoded evidence, and its steps as text with remedies.
    typealias Evidence = (object: [UInt8], lines: [String])

    /// The time for which evidence is cached.
    static let age: Duration = .seconds(1)

    private let known = Locked<[String: (time: Duration, evidence: Evidence)]>([:])

    /// Returns the evidence of a target; nil for an unknown target.
    ///
    /// If it is not cached, the calling thread queries the kernel and, for up to a second, DNS servers.
    func evidence(of target: String, _ service: MonitoringService, _ write: EvidenceWriter) -> Evidence? {
        let now = service.clock.monitor.boot
        let recent = known.withLock { known in
            known = known.filter { now - $0.value.time < Self.age }
            return known[target]?.evidence
        }
        if let recent { return recent }
        guard let found = service.evidence(of: target) else { return nil }
        let lines = found.steps.flatMap { EvidenceRecord.Step($0).lines }
        let evidence = (object: write(found, service.namespace(of: target)), lines: lines)
        known.withLock { $0[target] = (now, evidence) }
        return evidence
    }
}
