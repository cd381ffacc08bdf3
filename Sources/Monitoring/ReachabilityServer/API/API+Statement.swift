import Crypto
import LinuxSupport
import NIOHTTP1
import ReachabilityLedger
import ReachabilityService

/// The outages for which one party is responsible in a month, as a document for that party.
struct Statement {
    /// The parties.
    enum Party: String, CaseIterable {
        case us, upstream, them

        var attribution: Attribution {
            switch self {
            case .us: .us
            case .upstream: .upstream
            case .them: .them
            }
        }

        /// The party in a title.
        var name: String { StateDescription.name(TargetState(attribution).account) }
    }

    /// An uninterrupted time of one target for which the party is responsible.
    struct Row {
        /// The id of the outage.
        let outage: String
        let target: String
        let start: LedgerInstant
        let end: LedgerInstant
        /// The maximum error of the start and of the end together.
        let uncertainty: Duration
        let cause: OutageCause?
        let reason: String?

        var length: Duration { end - start }
        /// The bounds of the length.
        var bounds: (least: Duration, most: Duration) { (max(.zero, length - uncertainty), length + uncertainty) }
    }

    let party: Party
    /// The month, such as `2026-10`.
    let month: String
    let from: LedgerInstant
    let to: LedgerInstant
    /// The abbreviation of the time zone in which the month begins.
    let zone: String
    /// The rows, earliest first.
    let rows: [Row]
    /// The time of each target without observation.
    let unobserved: [(target: String, time: Duration)]

    /// The time in which at least one target was affected.
    var total: Duration { Self.union(rows.map { ($0.start, $0.end) }) }

    /// The bounds of ``total``: with the shortest and with the longest possible rows.
    var bounds: (least: Duration, most: Duration) {
        let spans = rows.map { ($0.start, $0.end, $0.uncertainty / 2) }
        return (
            Self.union(spans.map { ($0.0 + $0.2, max($0.0 + $0.2, $0.1 - $0.2)) }),
            Self.union(spans.map { ($0.0 - $0.2, $0.1 + $0.2) })
        )
    }

    /// Returns the length of the union of spans.
    private static func union(_ spans: [(LedgerInstant, LedgerInstant)]) -> Duration {
        var (sum, reached) = (Duration.zero, LedgerInstant.earliest)
        for (start, end) in spans.sorted(by: { $0.0 < $1.0 }) where end > reached {
            sum += end - max(start, reached)
            reached = end
        }
        return sum
    }
}

extension Statement.Row {
    /// The words of the reason, or of the cause.
    var words: String { reason.map(StateDescription.words) ?? cause?.rawValue ?? "" }
}

// MARK: - Reading

extension API {
    /// The maximum number of rows of a statement.
    private static let rowLimit = 10_000

    /// Returns the statement that a request describes. The month begins and ends in the time zone of the machine.
    private func statement(
        _ query: Query,
        _ snapshot: MonitoringService.Snapshot,
        zone: LocalTime = LocalTime()
    ) throws(Problem) -> Statement {
        let party = try query.word("party", Statement.Party.self) ?? .upstream
        let target = query.text("target")
        if let target { try checkTarget(target, snapshot) }
        let now = snapshot.calendar.wall(at: snapshot.now)
        let month = query.text("month") ?? String(zone.text(at: now).date.prefix(7))
        guard month.utf8.count == 7, let first = Timestamp.real(of: month + "-01T00:00:00Z"),
            let next = Timestamp.real(
                of: Timestamp(real: first + .seconds(31 * 86_400)).text.prefix(7) + "-01T00:00:00Z"
            )
        else { throw Problem(.badRequest, "month must be a month such as 2026-10, not \"\(month.printable)\"") }
        func instant(_ local: Duration) -> LedgerInstant {
            snapshot.calendar.instant(atWall: .seconds(zone.moment(showing: local.components.seconds)))
        }
        let from = instant(first)
        guard from <= snapshot.now else { throw Problem(.badRequest, "the month \(month) has not begun") }
        let to = max(from, min(instant(next), snapshot.now))
        var rows: [Statement.Row] = []
        var unobserved: [(String, Duration)] = []
        // Times before 1677 are the earliest instant, and a later month has not begun.
        for name in from < to ? target.map({ [$0] }) ?? snapshot.order : [] {
            try query.checkClient()
            rows += try self.rows(of: name, party, from, to, snapshot)
            guard rows.count <= Self.rowLimit else {
                throw Problem(.badRequest, "the month has more than \(Self.rowLimit) rows; add target")
            }
            let times = try times(of: name, from: from, to: to, snapshot).availability
            unobserved.append((name, times.duration(.unknown)))
        }
        return Statement(
            party: party,
            month: month,
            from: from,
            to: to,
            zone: zone.text(at: first).zone,
            rows: rows.sorted { ($0.start, $0.target) < ($1.start, $1.target) },
            unobserved: unobserved
        )
    }

    private func rows(
        of target: String,
        _ party: Statement.Party,
        _ from: LedgerInstant,
        _ to: LedgerInstant,
        _ snapshot: MonitoringService.Snapshot
    ) throws(Problem) -> [Statement.Row] {
        var filter = OutageFilter(target: target)
        (filter.from, filter.to) = (from, to)
        let (outages, intervals) = try reading { [filter] in
            (
                try reader.summaries(filter, limit: Self.rowLimit, snapshot),
                try reader.intervals(of: target, from: from, to: to, limit: Self.intervalLimit, snapshot)
            )
        }
        guard outages.count < Self.rowLimit, intervals.count < Self.intervalLimit else {
            throw Problem(.badRequest, "the month of \(target.printable) has too many changes for a statement")
        }
        // The intervals are sorted, latest first. The end of an interval is as exact as the start of the next one.
        let ends = [.zero] + intervals.map(\.uncertainty)
        return zip(intervals, ends).compactMap { interval, ending in
            guard interval.state.isOutage, interval.state.attribution == party.attribution else { return nil }
            let (start, end) = (max(interval.start, from), min(interval.end ?? to, to))
            guard start < end else { return nil }
            let outage = outages.first { $0.start <= interval.start }
            return Statement.Row(
                outage: outage?.id ?? "",
                target: target,
                start: start,
                end: end,
                uncertainty: interval.uncertainty + ending,
                cause: interval.state.cause,
                reason: interval.reason
            )
        }
    }
}

// MARK: - Answers

extension MonitoringService.Snapshot {
    /// Returns the rows as a table, over which the digest of a statement is computed.
    fileprivate func table(of statement: Statement) -> CSV {
        var csv = CSV([
            "outage", "target", "start", "end", "milliseconds", "atLeastMilliseconds", "atMostMilliseconds", "cause",
            "reason",
        ])
        for row in statement.rows {
            csv.add([
                row.outage, row.target, time(row.start).text, time(row.end).text, "\(row.length.roundedMilliseconds)",
                "\(row.bounds.least.roundedMilliseconds)", "\(row.bounds.most.roundedMilliseconds)",
                row.cause?.rawValue ?? "", row.reason ?? "",
            ])
        }
        return csv
    }

    /// Returns the SHA-256 of the CSV table, so that the receiver can detect a change.
    fileprivate func digest(of statement: Statement) -> String {
        SHA256.hash(data: Array(table(of: statement).text.utf8)).hexadecimal()
    }

    fileprivate func object(of statement: Statement) -> JSONObject {
        var object = JSONObject()
        object.add("schema", 1)
        object.add("month", statement.month)
        object.add("party", statement.party.rawValue)
        object.add("from", time(statement.from))
        object.add("to", time(statement.to))
        object.add("zone", statement.zone)
        object.add("milliseconds", statement.total.roundedMilliseconds)
        object.add("atLeastMilliseconds", statement.bounds.least.roundedMilliseconds)
        object.add("atMostMilliseconds", statement.bounds.most.roundedMilliseconds)
        object.add("sha256", digest(of: statement))
        object.add(
            "unobserved",
            statement.unobserved.map { target, time in
                var object = JSONObject()
                object.add("target", target)
                object.add("milliseconds", time.roundedMilliseconds)
                return object
            }
        )
        object.add(
            "outages",
            statement.rows.map { row in
                var object = JSONObject()
                object.add("outage", row.outage)
                object.add("target", row.target)
                object.add("start", time(row.start))
                object.add("end", time(row.end))
                object.add("milliseconds", row.length.roundedMilliseconds)
                object.add("atLeastMilliseconds", row.bounds.least.roundedMilliseconds)
                object.add("atMostMilliseconds", row.bounds.most.roundedMilliseconds)
                object.add("cause", row.cause?.rawValue)
                object.add("reason", row.reason)
                return object
            }
        )
        object.add("kind", "statement")
        return object
    }

    /// Returns the lines of the statement as text.
    fileprivate func text(of statement: Statement) -> String {
        let (least, most) = statement.bounds
        let sum = "\(statement.total.people), at least \(least.people), at most \(most.people)"
        let number = Set(statement.rows.map(\.outage)).count
        let count = number == 1 ? "1 outage" : "\(number) outages"
        let head =
            "\(statement.month) (\(statement.zone)), \(statement.party.name): \(count), \(sum)"
        let rows = statement.rows.map { row in
            "\(time(row.start).text) \(row.target.printable): \(row.words) for \(row.length.people), \(row.outage)"
        }
        let gaps = statement.unobserved.filter { $0.time > .zero }
            .map { "not observed, \($0.target.printable): \($0.time.people)" }
        return ([head] + rows + gaps + ["SHA-256 of the CSV rows: \(digest(of: statement))"]).joined(separator: "\n")
    }
}

extension MonitoringService.Snapshot {
    /// Returns the rows and the time without observation as two tables.
    ///
    /// - Parameter time: Returns a time as HTML.
    fileprivate func tables(of statement: Statement, _ time: (LedgerInstant) -> HTML) -> (rows: HTML, gaps: HTML) {
        let rows = statement.rows.map { row -> HTML in
            let length: HTML =
                row.uncertainty == .zero
                ? "\(row.length.units)"
                : "\(row.length.units)<br><small>\(row.bounds.least.units) to \(row.bounds.most.units)</small>"
            return """
                <tr><td>\(time(row.start))</td><td>\(time(row.end))</td><td>\(length)</td>\
                <td><bdi>\(row.target)</bdi></td><td>\(row.words)</td><td><code>\(row.outage)</code></td></tr>
                """
        }
        let gaps = statement.unobserved.filter { $0.time > .zero }.map { gap -> HTML in
            "<tr><td><bdi>\(gap.target)</bdi></td><td>\(gap.time.units)</td></tr>"
        }
        return (
            Self.table(["from", "to", "length", "target", "cause", "outage"], rows),
            Self.table(["target", "not observed"], gaps)
        )
    }

    private static func table(_ heads: [String], _ rows: [HTML]) -> HTML {
        if rows.isEmpty { return "<p>None.</p>" }
        let cells = heads.map { head -> HTML in "<th scope=\"col\">\(head)</th>" }
        return "<table><thead><tr>\(cells)</tr></thead><tbody>\(rows)</tbody></table>"
    }

    /// Returns the sentence with the bounds.
    fileprivate func sum(of statement: Statement) -> HTML {
        let (least, most) = statement.bounds
        return
            "At least \(least.units), at most \(most.units). Times at which several targets were affected count once."
    }

    /// Returns the statement as a file that needs no other file.
    fileprivate func document(of statement: Statement, host: String) -> HTML {
        let (rows, gaps) = tables(of: statement) { "\(time($0).text)" }
        return """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8"><title>Statement \(statement.month)</title>
            <style>body{font:14px sans-serif;margin:2em}table{border-collapse:collapse}td,th{border:1px solid #999;padding:.3em .6em;\
            text-align:left;vertical-align:top}</style></head><body>
            <h1>\(statement.total.units) without connection in \(statement.month)</h1>
            <p>Observed by \(host). Responsible: \(statement.party.name). \(sum(of: statement)) Times are in UTC. The month begins in \
            the time zone \(statement.zone).</p>
            <h2>Outages</h2>\(rows)<h2>Time without observation</h2>\(gaps)
            <p>SHA-256 of the rows as CSV: <code>\(digest(of: statement))</code></p>
            </body></html>
            """
    }
}

extension API {
    /// The formats of a statement.
    private enum Form: String, CaseIterable {
        case text, json, csv, html
    }

    /// Answers with the statement of a month: a text, a JSON object, its rows as CSV, or a document.
    func statement(_ query: Query) throws(Problem) -> WebAnswer {
        let form = try query.word("format", Form.self)
        let snapshot = service.snapshot
        let statement = try statement(query, snapshot)
        try query.checkNames()
        let item = Item(
            key: statement.month,
            object: snapshot.object(of: statement),
            text: snapshot.text(of: statement)
        )
        switch form {
        case .text: return .text(item.text)
        case .json: return .one(item.object)
        case .csv: return WebAnswer(type: CSV.contentType, Array(snapshot.table(of: statement).text.utf8))
        case .html:
            let document = snapshot.document(of: statement, host: HostName.ofMachine ?? "this machine")
            var answer = WebAnswer(type: "text/html; charset=utf-8", Array(document.text.utf8))
            answer.headers.append(("Content-Disposition", "attachment; filename=\"\(statement.month).html\""))
            return answer
        case nil: return .one(item, query.request)
        }
    }

    /// Returns the page of a statement, to be printed.
    func statementPage(_ query: Query, _ snapshot: MonitoringService.Snapshot) throws(Problem) -> Layout {
        let statement = try statement(query, snapshot)
        let account = TargetState(statement.party.attribution).account
        let hero = PageParts.hero(
            mark: account.rawValue,
            "\(statement.total.units) without connection in \(statement.month).",
            when: "Responsible: \(statement.party.name). The month begins in the time zone \(statement.zone).",
            lead: snapshot.sum(of: statement)
        )
        let (rows, gaps) = snapshot.tables(of: statement) { snapshot.time($0, .exact) }
        let target = query.text("target").map { "&target=\($0.percentEncoded)" } ?? ""
        let link = "/v1/statement?month=\(statement.month)&party=\(statement.party.rawValue)\(target)"
        let main: HTML = """
            \(hero)
            \(PageParts.card("rows", "Outages", rows, class: "card scroll", attributes: " tabindex=\"0\""))
            \(PageParts.card("gaps", "Time without observation", gaps))
            <p class="more">SHA-256 of the rows as CSV: <code>\(snapshot.digest(of: statement))</code></p>
            \(PageParts.more("", api: link, link + "&format=csv", link + "&format=html"))
            """
        return Layout(title: "Statement \(statement.month)", account: account, place: "/availability", main: main)
    }
}
