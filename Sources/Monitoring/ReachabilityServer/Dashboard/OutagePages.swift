import LinuxSupport
import NetworkReachability
import ReachabilityLedger
import ReachabilityService

/// The filter of the list of outages.
struct OutageChoice {
    var target: String?
    var attribution: Attribution?
    var cause: OutageCause?
    /// The time window of the outages; nil for all times.
    var window: BarWindow.Choice?

    /// Returns the filter for outages.
    func filter(_ snapshot: MonitoringService.Snapshot) -> OutageFilter {
        var filter = OutageFilter(target: target)
        (filter.attribution, filter.cause) = (attribution, cause)
        filter.from = window.map { snapshot.now - $0.length }
        return filter
    }

    /// Returns the URL of the page with these outages.
    ///
    /// - Parameter after: The last outage of the previous page.
    func link(after: String? = nil) -> String {
        Query.link(
            "/outages",
            [
                ("target", target), ("attribution", attribution?.rawValue), ("cause", cause?.rawValue),
                ("window", window?.rawValue), ("after", after),
            ]
        )
    }

    /// Returns a copy with another value of one property.
    func with<Value>(_ path: WritableKeyPath<OutageChoice, Value>, _ value: Value) -> OutageChoice {
        var other = self
        other[keyPath: path] = value
        return other
    }
}

extension API {
    /// The maximum number of incidents on a page.
    private static let incidentLimit = 50

    /// Returns the page with the incidents, latest first, and the time lost by cause.
    func outagesPage(_ query: Query, _ snapshot: MonitoringService.Snapshot) throws(Problem) -> Layout {
        var choice = OutageChoice()
        choice.target = query.text("target").flatMap { $0.isEmpty ? nil : $0 }
        choice.attribution = try query.word("attribution", Attribution.self)
        choice.cause = query.text("cause").map { OutageCause(rawValue: $0) }
        choice.window = try query.word("window", BarWindow.Choice.self)
        let after = query.after.flatMap { OutageKey($0) }
        let filter = choice.filter(snapshot)
        let sums = reader.outageSums(filter, snapshot)
        let all = incidentList(filter, limit: .max, snapshot)
        let (latest, more) = all.first(.max)
        let (page, next) =
            after.map { incidents(filter, after: $0, limit: Self.incidentLimit, snapshot) }
            ?? all.first(Self.incidentLimit)
        let total = sums.reduce(0) { $0 + $1.count }
        let ongoing = ongoing(filter, snapshot)
        let (open, account) = (ongoing.count, ongoing.first?.first.state.account ?? .up)
        let number = more == nil ? "\(latest.count)" : "More than \(latest.count)"
        let count = latest.count == 1 ? "One incident" : "\(number) incidents"
        let now = open == 0 ? "none ongoing" : open == 1 ? "one ongoing" : "\(open) ongoing"
        let of = choice.target.map { " of \($0)" } ?? ""
        let sentence = latest.isEmpty ? "No incident\(of)" : "\(count)\(of), \(now)"
        let older: HTML? = next.map { "<a href=\"\(choice.link(after: $0))\">Older</a>. " }
        let newest: HTML? = after == nil ? nil : "<a href=\"\(choice.link())\">The latest</a>. "
        let chosen =
            choice.cause.map { StateDescription.sentence(TargetState(choice.attribution ?? .them, $0), of: "A target") }
            ?? choice.attribution.map { "Party: \(StateDescription.name(TargetState($0).account))" }
        let lead: HTML = """
            \(chosen.map { "\($0). " } ?? "")An incident is one root cause. It has an outage of each target that it affects: \
            \(total == 1 ? "one outage" : "\(total) outages").
            """
        let sheet: HTML = """
            \(newest)\(older)<a href="/outages.csv" download>The latest 1,000 outages as CSV</a>. \
            <a href="/statement">The statement of this month</a> for the provider. 
            """
        let main: HTML = """
            \(PageParts.hero(account, sentence, lead: lead))
            \(PageParts.card("causes", "Time lost by cause \(Self.windows(choice))", Self.causes(sums, choice)))
            <div class="head"><h2 id="list">Incidents</h2>\(Self.search(choice, snapshot))</div>
            <section class="card" data-part="list" aria-labelledby="list">\(list(page, snapshot))</section>
            \(PageParts.more(sheet, api: "/v1/outages"))
            """
        return Layout(title: sentence, account: account, place: "/outages", main: main)
    }

    /// Returns links to other time windows.
    private static func windows(_ choice: OutageChoice) -> HTML {
        let choices: [BarWindow.Choice?] = [.day, .week, .month, .year, nil]
        return tabs(choices.map { ($0?.name ?? "all", choice.with(\.window, $0), choice.window == $0) })
    }

    /// Returns a form that searches the incidents of a target; nil for a single target.
    private static func search(_ choice: OutageChoice, _ snapshot: MonitoringService.Snapshot) -> HTML? {
        guard snapshot.order.count > 1 else { return nil }
        let kept = [
            ("attribution", choice.attribution?.rawValue), ("cause", choice.cause?.rawValue),
            ("window", choice.window?.rawValue),
        ].compactMap { name, value in value.map { "<input type=\"hidden\" name=\"\(name)\" value=\"\($0)\">" as HTML } }
        let names = snapshot.order.map { "<option>\($0)</option>" as HTML }
        return """
            <form class="search" role="search"><input type="search" name="target" value="\(choice.target ?? "")" list="names" \
            placeholder="All targets" aria-label="Target"><datalist id="names">\(names)</datalist>\(kept)<button>Search</button></form>
            """
    }

    private static func tabs(_ links: [(name: String, choice: OutageChoice, isCurrent: Bool)]) -> HTML {
        PageParts.tabs(links.map { ($0.name, $0.choice.link(), $0.isCurrent) })
    }

    /// Returns the time lost by cause, longest first, as bars to the same scale with links to the outages.
    private static func causes(_ sums: [OutageSum], _ choice: OutageChoice) -> HTML {
        let rows = sums.map { (state: TargetState($0.attribution, $0.cause), sum: $0) }
            .sorted { ($1.sum.time, $0.state.description) < ($0.sum.time, $1.state.description) }
        guard let longest = rows.first?.sum.time else { return "<p class=\"empty\">No outages.</p>" }
        let items = rows.map { row -> HTML in
            let width = (Double(row.sum.time.nanoseconds) / Double(max(1, longest.nanoseconds))).percentText
            let account = row.state.account.rawValue
            let link = choice.with(\.attribution, row.sum.attribution).with(\.cause, row.sum.cause).link()
            let count = row.sum.count == 1 ? "one outage" : "\(row.sum.count) outages"
            return PageParts.row(
                "\(Sign.tag(row.state.mark) ?? "") <small>\(StateDescription.sentence(row.state, of: "A target"))</small>",
                """
                <svg class="thin" height="14" width="100%" aria-hidden="true"><rect class="s-\(account)" width="\(width)%" \
                height="100%" fill="url(#p-\(account))"/></svg>
                """,
                state: "<b>\(row.sum.time.units)</b> <small><a href=\"\(link)\">\(count)</a></small>"
            )
        }
        return "\(items)"
    }
}

extension API {
    /// Returns the page of one outage.
    func outagePage(_ query: Query, _ snapshot: MonitoringService.Snapshot) throws(Problem) -> Layout {
        guard let explained = try? explained(query["id"], snapshot) else {
            return .missing("There is no outage \(query["id"])", list: Self.knownOutages)
        }
        let times = KnownTimes(self, snapshot, of: 1)
        let outage = explained.outage
        let incident = incident(of: outage, snapshot)
        let id = outage.id
        let deciding = outage.deciding(at: snapshot.now)
        let (account, isOpen) = (deciding.state.account, outage.end == nil)
        let description = StateDescription.sentence(deciding.state, of: outage.target, isPast: !isOpen)
        let length = snapshot.length(from: outage.start, to: outage.end)
        let explanation = StateDescription.explanation(deciding.reason)
        let hero = PageParts.hero(
            mark: account.rawValue,
            "\(description)",
            saying: description,
            when: "for \(length)\(isOpen ? ", ongoing" : "").",
            lead: """
                \(explanation?.meaning ?? explained.checkSentence ?? "") \
                <span class="remedy">\(isOpen ? explanation?.remedy ?? "" : "")</span>
                """
        )
        let pictures = ([outage.target] + incident.outages.map(\.target).filter { $0 != outage.target }).prefix(20).map
        { target in
            Self.picture(outage, of: target, in: incident, times, snapshot)
        }
        let copy: HTML = "<button data-copy=\"/v1\(PageLink.outage(id))\" hidden>Copy the report</button> "
        let main: HTML = """
            \(hero)\(forms(of: id, query.request))\(Self.changes(explained))
            \(PageParts.card("scale", "Timeline of \(incident.outages.count == 1 ? "the target" : "\(incident.outages.count) targets")", "\(Array(pictures))"))\(BarWindow.legend)
            <div class="two"><div>\(PageParts.card("steps", "Step by step", Self.steps(explained, times, snapshot)))</div>
            <div>\(PageParts.card("facts", "Details", Self.facts(explained, snapshot)))</div></div>
            \(Self.notes(explained.notes, snapshot))\(Self.evidence(explained, snapshot))
            \(PageParts.more(copy, api: "/v1\(PageLink.outage(id))"))
            """
        return Layout(title: description, account: isOpen ? account : .up, place: "/outages", main: main)
    }

    /// Returns a bar of an affected target, with the incident in the middle and half of its duration before and after it.
    private static func picture(
        _ outage: Outage,
        of target: String,
        in incident: RootCause,
        _ times: KnownTimes,
        _ snapshot: MonitoringService.Snapshot
    ) -> HTML {
        let end = incident.end ?? snapshot.now
        let half = Duration.nanoseconds(max((end - incident.start).nanoseconds / 2, 1_000_000))
        let (from, to) = (incident.start - half, min(snapshot.now, end + half))
        let intervals = times.intervals(of: target, from: from, to: to)
        let label = TimeBar.label("\(target) during the incident", Availability(of: intervals, from: from, to: to))
        let own = incident.outages.first { $0.target == target }
        let length: HTML? = own.map { snapshot.length(from: $0.start, to: $0.end) }
        let axis: HTML? =
            target == outage.target
            ? "<div class=\"axis\"><span>\(snapshot.time(from, .exact))</span><span>\(snapshot.time(to, .exact))</span></div>"
            : nil
        let link: HTML =
            target == outage.target
            ? "<bdi>\(target)</bdi>"
            : "<a href=\"\(PageLink.outage(own?.id ?? ""))\"><bdi>\(target)</bdi></a>"
        return PageParts.row(
            link,
            """
            <div>\(TimeBar(from: from, to: to, height: 30).svg(intervals, label: label))\(axis)</div>
            """,
            state: "\(length)"
        )
    }

    private static func steps(
        _ explained: ExplainedOutage,
        _ times: KnownTimes,
        _ snapshot: MonitoringService.Snapshot
    ) -> HTML {
        let outage = explained.outage
        let moment = Duration.nanoseconds(1)
        let (from, to) = (outage.start - moment, (outage.end ?? snapshot.now) + moment)
        let intervals = times.intervals(of: outage.target, from: from, to: to)
        let before = intervals.last { $0.end == outage.start }
        let after = outage.end.flatMap { end in intervals.first { $0.start == end } }
        let all = (before.map { [$0] } ?? []) + outage.intervals + (after.map { [$0] } ?? [])
        let items = all.map { interval -> HTML in
            let inside = interval.start >= outage.start && interval != after
            let length = snapshot.length(from: interval.start, to: interval.end)
            let evidence: HTML? = interval.reason.map { reason in
                let isChecked = interval.state.basis == .checks
                let words =
                    isChecked
                    ? StateDescription.words(reason) : NetworkPath.UnsatisfiedReason(rawValue: reason).description
                return
                    "<span class=\"soft\">\(StateDescription.explanation(reason)?.meaning ?? words.asSentence)</span>"
            }
            let isPast = interval.end != nil
            let description = StateDescription.sentence(interval.state, of: outage.target, isPast: isPast)
            let actor: HTML? =
                interval.start == outage.start
                ? nil : explained.actors[interval.start].map { "<span class=\"soft\">by <bdi>\($0.text)</bdi></span>" }
            let state: HTML = inside ? "<b>\(description)</b>" : "<span>\(description)</span>"
            return """
                <li>\(Sign.svg(interval.state.account))\(snapshot.time(interval.start, .exact))\
                \(state)<span class="long">\(length)</span>\(evidence)\(actor)</li>
                """
        }
        return "<ol class=\"steps\">\(items)</ol>"
    }

    /// Returns the card with the differences between before and during the outage, its actor, and the remedy; empty if nothing is known.
    private static func changes(_ explained: ExplainedOutage) -> HTML {
        let rows = explained.changes.map { change -> HTML in
            let during: HTML = change.isBroken ? "<b>\(change.during.inWords)</b>" : "\(change.during.inWords)"
            return """
                <tr><th scope="row">\(StateDescription.words(change.kind))</th><td>\(change.before?.inWords ?? "not recorded")</td><td>\(during)</td></tr>
                """
        }
        let known: [(name: String, value: HTML?)] = [
            ("Caused by", explained.actor.map { "<bdi>\($0.text)</bdi>" }),
            ("Undo with", explained.undo.map { "<code>\($0)</code>" }),
            ("Remedy", explained.undo == nil ? explained.remedy.map { "\($0.inWords.asSentence)" } : nil),
        ]
        let facts: HTML = known.contains { $0.value != nil } ? PageParts.facts(known) : ""
        if rows.isEmpty, explained.actor == nil { return "<div data-part=\"changes\"></div>" }
        let table: HTML = """
            <div class="scroll" tabindex="0"><table class="changes"><thead><tr><th scope="col">What changed</th><th scope="col">before</th>\
            <th scope="col">during the outage</th></tr></thead><tbody>\(rows)</tbody></table></div>
            """
        return "\n\(PageParts.card("changes", "Cause", rows.isEmpty ? facts : table + facts))"
    }

    /// Returns the evidence before, during and after the outage, as printed by `reachability why`, behind a disclosure.
    private static func evidence(_ explained: ExplainedOutage, _ snapshot: MonitoringService.Snapshot) -> HTML {
        let chains = explained.evidence.map { record -> HTML in
            let steps = record.steps.map { step -> HTML in
                let remedy: HTML? = step.remedy.map { "<span class=\"soft\">\($0.inWords)</span>" }
                return """
                    <li><b>\(StateDescription.words(step.kind))</b> <span>\(StateDescription.words(step.state))</span> \
                    <span class="said">\(step.summary.inWords)\(remedy)</span></li>
                    """
            }
            let phase = record.phase(of: explained.outage)
            return """
                <section class="card"><h3>\(phase) · \(snapshot.time(record.instant, .exact))</h3><ul class="chain">\(steps)</ul></section>
                """
        }
        let missing: HTML? = explained.missing.map { "<p class=\"soft\">\($0.asSentence)</p>" }
        if chains.isEmpty { return "<div data-part=\"evidence\">\(missing)</div>" }
        return "<details data-part=\"evidence\"><summary>\(heading(explained))</summary>\(chains)\(missing)</details>"
    }

    private static func heading(_ explained: ExplainedOutage) -> HTML {
        let isChecked = explained.outage.intervals.contains { $0.state.basis == .checks }
        return isChecked ? "Evidence from the kernel and checks" : "Evidence from the kernel"
    }

    private static func facts(_ explained: ExplainedOutage, _ snapshot: MonitoringService.Snapshot) -> HTML {
        let outage = explained.outage
        let deciding = outage.deciding(at: snapshot.now)
        let end: HTML = outage.end.map { snapshot.time($0, .exact) } ?? "ongoing"
        let precision = outage.uncertainty < .milliseconds(1) ? ", exact to the millisecond" : ""
        let basis = deciding.state.basis == .checks ? "the kernel and active checks" : "the kernel only"
        let ending = outage.ending.map { ending in
            switch ending {
            case .up: "\(outage.target) is up again"
            case .unknown: "observation ended"
            case .maintenance: "maintenance began"
            }
        }
        return PageParts.facts([
            ("Target", PageParts.link(to: outage.target)),
            ("State", Sign.pill(deciding.state)),
            ("Start", snapshot.time(outage.start, .exact)), ("End", end),
            ("Duration", "\(outage.bounds(at: snapshot.now))\(precision)"), ("Basis", "\(basis)"),
            ("Ended because", ending.map { "\($0)" }),
        ])
    }

    private static func notes(_ notes: [OutageNote], _ snapshot: MonitoringService.Snapshot) -> HTML {
        if notes.isEmpty { return "<div data-part=\"notes\"></div>" }
        let items = notes.map { note -> HTML in
            let lines = note.text.split(at: "\n", omittingEmptySubsequences: false).map { line -> HTML in
                "<bdi>\(String(line))</bdi><br>"
            }
            return """
                <li><b><bdi>\(note.author)</bdi></b> \(snapshot.time(note.instant)) <span class="said">\(lines)</span></li>
                """
        }
        return """
            <div data-part="notes"><h2 id="notes">Notes</h2>
            <section class="card" aria-labelledby="notes"><ul class="chain">\(items)</ul></section></div>
            """
    }
}

/// A step of the evidence that differs between before and during an outage.
struct EvidenceChange {
    let kind: String
    /// The text before the outage; nil if it was not recorded.
    let before: String?
    let during: String
    let isBroken: Bool
}

extension ExplainedOutage {
    /// Returns the evidence of a phase that names the broken step, or else the first evidence of the phase.
    private func record(_ phase: String) -> EvidenceRecord? {
        let records = evidence.filter { $0.phase(of: outage) == phase }
        return records.first { $0.steps.contains { $0.state == "broken" } } ?? records.first
    }

    /// The steps that differ between before and during the outage: the broken one first, then from near to far.
    var changes: [EvidenceChange] {
        let before = Dictionary(grouping: record("before")?.steps ?? [], by: \.kind)
        var counts: [String: Int] = [:]
        let changes = (record("during")?.steps ?? []).compactMap { step -> EvidenceChange? in
            let index = counts[step.kind, default: 0]
            counts[step.kind] = index + 1
            guard step.kind != "verdict", step.state != "notReached" else { return nil }
            let former = before[step.kind].flatMap { $0.indices.contains(index) ? $0[index].summary.untimed : nil }
            let (during, isBroken) = (step.summary.untimed, step.state == "broken")
            guard isBroken || former.map({ $0 != during }) ?? false else { return nil }
            return EvidenceChange(kind: step.kind, before: former, during: during, isBroken: isBroken)
        }
        return changes.filter(\.isBroken) + changes.filter { !$0.isBroken }
    }

    fileprivate var remedy: String? { record("during")?.steps.lazy.compactMap(\.remedy).first }

    /// The command that restores what was removed; nil if it is not known.
    var undo: String? {
        guard let change = changes.first, change.isBroken, let before = change.before else { return nil }
        let command: String
        switch change.kind {
        case "route" where before.contains(" dev ") && !before.hasPrefix("on the link"):
            let isIPv6 = record("before")?.steps.contains { $0.kind == "address" && $0.summary.contains(":") } ?? false
            command = "ip \(isIPv6 ? "-6 " : "")route replace \(before)"
        case "link" where outage.intervals.contains { $0.reason == "linkDown" }:
            command = "ip link set \(before.prefix { $0 != " " && $0 != ":" && $0 != "," }) up"
        default: return nil
        }
        // A name of an interface may contain characters with a meaning for the shell.
        return command.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || " .:/_-@%".contains($0)) }
            ? command : nil
    }
}

extension String {
    /// The text without the duration at its end, such as ` (0.42 ms)`.
    fileprivate var untimed: String {
        guard hasSuffix(" ms)"), let start = lastIndex(of: "(") else { return self }
        return String(self[..<start].dropLast())
    }
}
