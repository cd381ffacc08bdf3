import LinuxSupport
import NIOHTTP1
package import NetworkDiagnostics
package import NetworkReachability
import ReachabilityLedger
import ReachabilityService

extension API {
    /// The results of a target's checks, latest first: the last two weeks in intervals of five minutes, older ones by the hour.
    func checks(_ query: Query) throws(Problem) -> Page {
        let (snapshot, name) = (service.snapshot, query["name"])
        try checkTarget(name, snapshot)
        let (from, to) = try window(query, snapshot)
        let limit = try query.limit
        let found = try buckets(of: name, from: from, to: to, limit: limit + 1)
        return Page(first: limit, of: found.map { snapshot.item(of: $0) })
    }

    /// The results of checks, latest first. Of this run, memory is used in place of the disk.
    func buckets(of name: String, from: LedgerInstant, to: LedgerInstant, limit: Int) throws(Problem) -> [CheckBucket] {
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
                // An earlier run ended within this interval.
                if let written = found[bucket.start] { whole.merge(written) }
                found[bucket.start] = whole
            }
            return found.values.sorted { $0.start > $1.start }.prefix(limit).map(\.self)
        } catch {
            throw Self.unreadable(error)
        }
    }

    /// Starts a check of a target. Its result is published like any other.
    func check(_ query: Query) throws(Problem) -> WebAnswer {
        let name = query["name"]
        switch service.askForCheck(of: name) {
        case .accepted:
            var object = JSONObject()
            object.add("schema", 1)
            object.add("target", name)
            object.add("accepted", true)
            object.add("kind", "check")
            let text = "\(name.printable): a check begins"
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
            if service.snapshot.books.accounts[name] == nil { throw Self.noTarget(name) }
            throw Problem(.conflict, "cannot check \"\(name.printable)\": its configuration has no checks")
        }
    }
}

extension MonitoringService.Snapshot {
    /// The result of a check.
    func object(of check: CheckStatus) -> JSONObject {
        var object = JSONObject()
        object.add("place", check.finding.observation.place)
        object.add("reason", check.finding.observation.reason)
        object.add("confidence", check.finding.confidence)
        object.add("sentence", check.finding.sentence)
        object.add("time", time(check.ended))
        object.add("durationMilliseconds", (check.ended - check.begun).roundedMilliseconds)
        object.add("latencyMicroseconds", optional: check.finding.latency.map { Int($0.nanoseconds / 1000) })
        return object
    }

    func item(of bucket: CheckBucket) -> Item {
        var object = JSONObject()
        // The wall clock differs a little from the ledger's clock.
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

/// Encodes evidence from a namespace as `reachability why --json` does: an object in UTF-8.
package typealias EvidenceWriter = @Sendable (NetworkEvidence, NetworkNamespace) -> [UInt8]

extension API {
    /// The kernel's current evidence for the state of a target, and under `account` the target as the service has it.
    func why(_ query: Query) throws(Problem) -> WebAnswer {
        try query.checkNames()
        let name = query["name"]
        guard let evidenceWriter else { throw Problem(.serviceUnavailable, "the kernel is not queried here") }
        guard let evidence = memory.evidence(of: name, service, evidenceWriter) else { throw Self.noTarget(name) }
        let snapshot = service.snapshot
        guard let account = snapshot.item(of: name) else { throw Self.noTarget(name) }
        var object = JSONObject(encoded: evidence.object)
        object.add("account", account.object)
        let check = snapshot.findings[name].map { ["  \($0.finding.sentence.printable)"] } ?? []
        let report = ([account.text] + evidence.lines + check).joined(separator: "\n")
        return .one(Item(key: name, object: object, text: account.text, report: report), query.request).unstored
    }
}

/// The latest evidence of each target, for one second, so that frequent requests do not query the kernel each time.
final class EvidenceMemory: Sendable {
    /// The encoded evidence, and its steps as text with remedies.
    typealias Evidence = (object: [UInt8], lines: [String])

    static let age: Duration = .seconds(1)

    private let known = Locked<[String: (time: Duration, evidence: Evidence)]>([:])

    /// Queries the kernel on the calling thread, and for up to a second DNS servers. Nil for an unknown target.
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
