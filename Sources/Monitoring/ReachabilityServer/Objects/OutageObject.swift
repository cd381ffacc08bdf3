import LinuxSupport
import ReachabilityLedger
import ReachabilityService

extension MonitoringService.Snapshot {
    /// An outage, whole.
    func item(of explained: ExplainedOutage) -> Item {
        let outage = explained.outage
        let deciding = outage.deciding(at: now)
        var object = JSONObject()
        object.add("schema", 1)
        object.add("id", outage.id)
        object.add("target", outage.target)
        object.add("attribution", deciding.state.attribution.rawValue)
        object.add("cause", deciding.state.cause?.rawValue)
        object.add("reason", deciding.reason)
        object.add("basis", deciding.state.basis.rawValue)
        object.add("start", time(outage.start))
        object.add("end", outage.end.map { time($0).text })
        object.add("ending", outage.ending?.rawValue)
        object.add("durationMilliseconds", outage.duration(at: now).roundedMilliseconds)
        object.add("durationNanoseconds", outage.duration(at: now).nanoseconds)
        object.add("uncertaintyMilliseconds", outage.uncertainty.nanoseconds / 1_000_000)
        object.add("boot", calendar.line(at: outage.start).bootIdentifier)
        object.add(
            "intervals",
            outage.intervals.map { interval in
                var object = self.object(of: interval)
                if let actor = explained.actors[interval.start] { object.add("actor", actor.object) }
                return object
            }
        )
        object.add("evidence", explained.evidence.map { self.object(of: $0, phase: $0.phase(of: outage)) })
        object.add("notes", explained.notes.map { self.object(of: $0) })
        if let actor = explained.actor { object.add("actor", actor.object) } else { object.add("actor", String?.none) }
        object.add("kind", "outage")
        let line = line(of: outage, deciding)
        let report =
            [line] + (explained.actor.map { ["  the way was taken away by \($0.text)"] } ?? [])
            + outage.intervals.map { interval in
                let actor = interval.start == outage.start ? nil : explained.actors[interval.start]
                return "  " + item(of: interval).text + (actor.map { ", by \($0.text)" } ?? "")
            } + evidenceLines(explained)
            + explained.notes.flatMap { lines(of: $0) }
        return Item(key: outage.id, object: object, text: line, report: report.joined(separator: "\n"))
    }

    /// What explains an interval.
    ///
    /// - Parameter phase: Where in an outage it is; nil where that is not told.
    func object(of record: EvidenceRecord, phase: String?) -> JSONObject {
        var object = JSONObject()
        if let phase { object.add("phase", phase) } else { object.add("interval", time(record.interval)) }
        object.add("time", time(record.instant))
        object.add(
            "steps",
            record.steps.map { step in
                var object = JSONObject()
                object.add("kind", step.kind)
                object.add("state", step.state)
                object.add("summary", step.summary)
                object.add("remedy", step.remedy)
                return object
            }
        )
        return object
    }

    /// For example `2026-11-21T08:15:30.123Z internet: us.link (noCarrier) for 4.001s, id`.
    private func line(of outage: Outage, _ deciding: LedgerInterval) -> String {
        let reason = deciding.reason.map { " (\($0))" } ?? ""
        let length = outage.duration(at: now).people
        let lasting = outage.end == nil ? ", and goes on" : outage.ending == .unknown ? ", then unknown" : ""
        return
            "\(time(outage.start).text) \(outage.target.printable): \(deciding.state)\(reason.printable) for \(length)"
            + "\(lasting), \(outage.id)"
    }

    private func evidenceLines(_ explained: ExplainedOutage) -> [String] {
        let told = explained.evidence.flatMap { record in
            ["\(time(record.instant).text) \(record.phase(of: explained.outage)):"] + record.steps.flatMap(\.lines)
        }
        return told + (explained.missing.map { ["  \($0)"] } ?? [])
    }

    func time(_ instant: LedgerInstant) -> Timestamp { Timestamp(real: calendar.wall(at: instant)) }
}

extension EvidenceRecord.Step {
    /// For people, with what would mend it.
    var lines: [String] {
        let mark = ["ok": "ok", "broken": "!!", "notReached": "..", "informational": "--"][state] ?? "--"
        return ["  \(mark) \(kind): \(summary.printable)"] + (remedy.map { ["     \($0.printable)"] } ?? [])
    }
}

extension EvidenceRecord {
    /// Whether it is of the time before, during or after an outage.
    func phase(of outage: Outage) -> String {
        if interval < outage.start { return "before" }
        return outage.end.map { interval >= $0 } ?? false ? "after" : "during"
    }
}
