import LinuxSupport
import ReachabilityLedger
import ReachabilityService

extension MonitoringService.Snapshot {
    /// Returns an outage as JSON, as a line of text and as a report.
    func item(of explained: ExplainedOutage) -> Item {
        let outage = explained.outage
        let line = line(of: outage, outage.deciding(at: now))
        let report =
            [line] + (explained.actor.map { ["  the path was removed by \($0.text)"] } ?? [])
            + outage.intervals.map { interval in
                let actor = interval.start == outage.start ? nil : explained.actors[interval.start]
                return "  " + item(of: interval).text + (actor.map { ", by \($0.text)" } ?? "")
            } + evidenceLines(explained)
            + explained.notes.flatMap { lines(of: $0) }
        return Item(key: outage.id, object: object(of: explained), text: line, report: report.joined(separator: "\n"))
    }

    /// Returns a line such as `2026-11-21T08:15:30.123Z internet: us.link (noCarrier) for 4.001s, ID`.
    private func line(of outage: Outage, _ deciding: LedgerInterval) -> String {
        let reason = deciding.reason.map { " (\($0))" } ?? ""
        let length = outage.duration(at: now).people
        let lasting = outage.end == nil ? ", ongoing" : outage.ending == .unknown ? ", then unknown" : ""
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
}

extension EvidenceRecord.Step {
    /// The step as lines of text, with the remedy if there is one.
    var lines: [String] {
        let mark = ["ok": "ok", "broken": "!!", "notReached": "..", "informational": "--"][state] ?? "--"
        return ["  \(mark) \(kind): \(summary.printable)"] + (remedy.map { ["     \($0.printable)"] } ?? [])
    }
}
