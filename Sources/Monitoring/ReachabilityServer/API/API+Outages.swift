import LinuxSupport
import NIOHTTP1
import ReachabilityLedger
import ReachabilityService

extension API {
    /// Returns a page of outages, latest first.
    func outages(_ query: Query) throws(Problem) -> Page {
        let snapshot = service.snapshot
        let target = query.text("target")
        if let target { try checkTarget(target, snapshot) }
        var filter = OutageFilter(target: target)
        filter.attribution = try query.word("attribution", Attribution.self)
        filter.cause = query.text("cause").map { OutageCause(rawValue: $0) }
        filter.isOpen = try query.word("state", OpenState.self) == .open
        filter.from = try query.instant("from", snapshot.calendar)
        filter.to = try query.instant("to", snapshot.calendar)
        let after = query.after.flatMap { OutageKey($0) }
        if let text = query.after, after == nil {
            throw Problem(.badRequest, "after must be the id of an outage, not \"\(text.printable)\"")
        }
        let limit = try query.limit
        let found = try reading { try reader.outages(filter, after: after, limit: limit + 1, snapshot) }
        let total = outageTotal(filter, snapshot)
        return Page(first: limit, of: found.map { snapshot.item(of: $0) }, total: total)
    }

    /// Returns the outage with an id, or the latest outage for the id `latest`.
    func outage(_ id: String) throws(Problem) -> Item {
        let snapshot = service.snapshot
        return snapshot.item(of: try explained(id, snapshot))
    }

    /// Returns the outage with an id, or the latest outage for the id `latest`, with its evidence.
    func explained(_ id: String, _ snapshot: MonitoringService.Snapshot) throws(Problem) -> ExplainedOutage {
        let found = try reading {
            if id == "latest" { return try reader.outages(limit: 1, snapshot).first }
            return try OutageKey(id).flatMap { try reader.outage(with: $0, snapshot) }
        }
        if let found { return found }
        if id == "latest" { throw Problem(.notFound, "there was no outage yet") }
        throw Problem(.notFound, "there is no outage \"\(id.printable)\"; /v1/outages lists all")
    }
}

/// The format of a report.
enum ReportForm: String, CaseIterable {
    case text, json, csv
}

extension API {
    /// Answers with a report of an outage: a text, the JSON object, or a table of its intervals as CSV.
    func report(_ query: Query) throws(Problem) -> WebAnswer {
        let form = try query.word("format", ReportForm.self) ?? .text
        try query.checkNames()
        let snapshot = service.snapshot
        let explained = try explained(query["id"], snapshot)
        let answer: WebAnswer =
            switch form {
            case .text: .text(snapshot.item(of: explained).report)
            case .json: .one(snapshot.item(of: explained).object)
            case .csv: WebAnswer(type: CSV.contentType, Array(snapshot.table(of: explained.outage).text.utf8))
            }
        return answer.tagged(for: query.request)
    }
}

extension MonitoringService.Snapshot {
    /// Returns the intervals of an outage as a table.
    fileprivate func table(of outage: Outage) -> CSV {
        var csv = CSV([
            "outage", "target", "start", "end", "durationMilliseconds", "uncertaintyMilliseconds", "attribution",
            "cause", "reason",
        ])
        for interval in outage.intervals {
            csv.add([
                outage.id, outage.target, time(interval.start).text, interval.end.map { time($0).text } ?? "",
                "\(interval.duration(at: now).roundedMilliseconds)", "\(interval.uncertainty.roundedMilliseconds)",
                interval.state.attribution.rawValue, interval.state.cause?.rawValue ?? "", interval.reason ?? "",
            ])
        }
        return csv
    }
}

extension API {
    /// Adds a note to an outage.
    func note(_ query: Query) throws(Problem) -> WebAnswer {
        let text = try RequestObject(query.request, keys: ["text"]).text("text")
        let (note, snapshot) = (try addNote(text, to: query["id"], by: query.request.author), service.snapshot)
        var object = JSONObject()
        object.add("schema", 1)
        object.add("outage", note.outage)
        object.add(snapshot.object(of: note))
        object.add("kind", "note")
        let lines = snapshot.lines(of: note).joined(separator: "\n")
        return .one(Item(key: note.outage, object: object, text: "\(note.outage): \(lines)"), query.request, .created)
    }

    /// Adds a note to the outage with an id, or to the latest outage for the id `latest`.
    func addNote(_ text: String?, to id: String, by author: String) throws(Problem) -> OutageNote {
        guard let text, OutageNote.isText(text) else {
            throw Problem(
                .badRequest,
                "text must be 1 to \(OutageNote.textLimit) characters, without control characters"
            )
        }
        let snapshot = service.snapshot
        let explained = try explained(id, snapshot)
        guard explained.notes.count < OutageNote.countLimit else {
            throw Problem(.conflict, "the outage has the maximum of \(OutageNote.countLimit) notes")
        }
        return service.note(text, by: author, on: explained.outage)
    }
}

extension MonitoringService.Snapshot {
    /// Returns the lines of a note, such as `2026-11-21T08:15:30.123Z note of root: the cable was cut`.
    func lines(of note: OutageNote) -> [String] {
        let lines = note.text.split(at: "\n", omittingEmptySubsequences: false).map { String($0).printable }
        let head = "\(time(note.instant).text) note of \(note.author.printable): \(lines[0])"
        return [head] + lines.dropFirst().map { "  " + $0 }
    }
}

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
        let lines = explained.evidence.flatMap { record in
            ["\(time(record.instant).text) \(record.phase(of: explained.outage)):"] + record.steps.flatMap(\.lines)
        }
        return lines + (explained.missing.map { ["  \($0)"] } ?? [])
    }
}

extension EvidenceRecord.Step {
    /// The step as lines of text, with the remedy if there is one.
    var lines: [String] {
        let mark = ["ok": "ok", "broken": "!!", "notReached": "..", "informational": "--"][state] ?? "--"
        return ["  \(mark) \(kind): \(summary.printable)"] + (remedy.map { ["     \($0.printable)"] } ?? [])
    }
}
