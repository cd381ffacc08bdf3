import LinuxSupport
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
    /// The maximum number of outages on a page.
    private static let outageLimit = 100

    /// Returns the page with the outages, latest first, and the time lost by cause.
    func outagesPage(_ query: Query, _ snapshot: MonitoringService.Snapshot) throws(Problem) -> Layout {
        var choice = OutageChoice()
        choice.target = query.text("target")
        choice.attribution = try query.word("attribution", Attribution.self)
        choice.cause = query.text("cause").map { OutageCause(rawValue: $0) }
        choice.window = try query.word("window", BarWindow.Choice.self)
        let after = query.after.flatMap { OutageKey($0) }
        let (filter, isFirst) = (choice.filter(snapshot), after == nil)
        let sums = reader.outageSums(filter, snapshot)
        let outages = latest(snapshot, filter, after: after, limit: Self.outageLimit + 1)
        let total = sums.reduce(0) { $0 + $1.count }
        let open = sums.reduce(0) { $0 + $1.open }
        let account = outages.first { $0.end == nil }?.deciding(at: snapshot.now).state.account ?? .up
        let count = total == 1 ? "One outage" : "\(total) outages"
        let now = open == 0 ? "none ongoing" : open == 1 ? "one ongoing" : "\(open) ongoing"
        let chosen = [choice.target, choice.cause?.rawValue ?? choice.attribution?.rawValue].compactMap(\.self)
        let of = chosen.isEmpty ? "" : " of " + chosen.joined(separator: ", ")
        let sentence = total == 0 ? "No outage\(of) so far" : "\(count)\(of), \(now)"
        let page = Array(outages.prefix(Self.outageLimit))
        let older: HTML? =
            outages.count > Self.outageLimit
            ? page.last.map { "<a href=\"\(choice.link(after: $0.id))\">Older</a>. " } : nil
        let newest: HTML? = isFirst ? nil : "<a href=\"\(choice.link())\">The latest</a>. "
        let lead: HTML = """
            An outage is a continuous time during which a target is not up. Its cause is that of the longest part.
            """
        let sheet: HTML = "\(newest)\(older)<a href=\"/outages.csv\" download>As CSV</a>. "
        let main: HTML = """
            \(PageParts.hero(account, sentence, lead: lead))
            \(PageParts.card("causes", "Time lost by cause \(Self.windows(choice))", Self.causes(sums, choice)))
            <h2 id="list">\(isFirst && older == nil ? "All outages" : "Outages") \(Self.targets(choice, snapshot))</h2>\(Self.moreTargets(choice, snapshot))
            <section class="card" data-part="list" aria-labelledby="list">\(snapshot.list(page))</section>
            \(PageParts.more(sheet, api: "/v1/outages"))
            """
        return Layout(title: sentence, account: account, place: "/outages", main: main)
    }

    /// Returns links to other time windows.
    private static func windows(_ choice: OutageChoice) -> HTML {
        let choices: [BarWindow.Choice?] = [.day, .week, .month, .year, nil]
        return tabs(choices.map { ($0?.name ?? "all", choice.with(\.window, $0), choice.window == $0) })
    }

    /// Returns links to the outages of the other targets. Empty for a single target. For many targets it has only the current one.
    private static func targets(_ choice: OutageChoice, _ snapshot: MonitoringService.Snapshot) -> HTML {
        let names = snapshot.accounting.targets
        guard names.count > 1 else { return "" }
        let shown: [String?] = names.count <= tabLimit ? names : choice.target.map { [$0] } ?? []
        return tabs((shown + [nil]).map { ($0 ?? "all targets", choice.with(\.target, $0), choice.target == $0) })
    }

    /// Returns a collapsed list of links to the outages of each target; nil for few targets.
    private static func moreTargets(_ choice: OutageChoice, _ snapshot: MonitoringService.Snapshot) -> HTML? {
        let names = snapshot.accounting.targets
        guard names.count > tabLimit else { return nil }
        return """
            <details class="choose"><summary>Choose one of \(names.count) targets</summary>\
            \(tabs(names.map { ($0, choice.with(\.target, $0), choice.target == $0) }))</details>
            """
    }

    /// The maximum number of links to targets beside a heading.
    private static let tabLimit = 12

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
                "\(Sign.pill(row.state.account)) <small>\(row.state.description)</small>",
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
        let all = latest(snapshot, limit: 200)
        let outage = explained.outage
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
        let picture: HTML = "<div class=\"inside\">\(Self.picture(outage, times, snapshot))</div>"
        let copy: HTML = "<button data-copy=\"/v1\(PageLink.outage(id))\" hidden>Copy the report</button> "
        let main: HTML = """
            \(hero)
            \(PageParts.card("scale", "Timeline", picture))\(BarWindow.legend)
            <div class="two"><div>\(PageParts.card("steps", "Step by step", Self.steps(explained, times, snapshot)))</div>
            <div>\(PageParts.card("facts", "Details", Self.facts(explained, all, snapshot)))</div></div>
            \(Self.notes(explained.notes, snapshot))\(Self.evidence(explained, snapshot))
            \(PageParts.more(copy, api: "/v1\(PageLink.outage(id))"))
            """
        return Layout(title: description, account: isOpen ? account : .up, place: "/outages", main: main)
    }

    /// Returns a bar with the outage in the middle, and half of its duration before and after it.
    private static func picture(_ outage: Outage, _ times: KnownTimes, _ snapshot: MonitoringService.Snapshot) -> HTML {
        let half = Duration.nanoseconds(max(outage.duration(at: snapshot.now).nanoseconds / 2, 1_000_000))
        let (from, to) = (outage.start - half, min(snapshot.now, (outage.end ?? snapshot.now) + half))
        let intervals = times.intervals(of: outage.target, from: from, to: to)
        let label = TimeBar.label("the outage", Availability(of: intervals, from: from, to: to))
        return """
            <div>\(TimeBar(from: from, to: to, height: 56).svg(intervals, label: label))\
            <div class="axis"><span>\(snapshot.time(from, .exact))</span><span>\(snapshot.time(to, .exact))</span></div></div>
            """
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
            let meaning = StateDescription.explanation(interval.reason)?.meaning ?? ""
            let evidence: HTML? = interval.reason.map { "<span class=\"soft\">\(meaning) <code>\($0)</code></span>" }
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

    /// Returns the evidence before, during and after the outage, as printed by `reachability why`.
    private static func evidence(_ explained: ExplainedOutage, _ snapshot: MonitoringService.Snapshot) -> HTML {
        let chains = explained.evidence.map { record -> HTML in
            let steps = record.steps.map { step -> HTML in
                let remedy: HTML? = step.remedy.map { "<span class=\"soft\">\($0)</span>" }
                return
                    "<li><b>\(step.kind)</b> <span>\(step.state)</span> <span class=\"said\">\(step.summary)\(remedy)</span></li>"
            }
            let phase = record.phase(of: explained.outage)
            return """
                <section class="card"><h3>\(phase) · \(snapshot.time(record.instant, .exact))</h3><ul class="chain">\(steps)</ul></section>
                """
        }
        let heading: HTML? = chains.isEmpty ? nil : "<h2 id=\"evidence\">\(heading(explained))</h2>"
        let missing: HTML? = explained.missing.map { "<p class=\"soft\">\($0)</p>" }
        return "<div data-part=\"evidence\">\(heading)\(chains)\(missing)</div>"
    }

    private static func heading(_ explained: ExplainedOutage) -> HTML {
        let isChecked = explained.outage.intervals.contains { $0.state.basis == .checks }
        return isChecked ? "Evidence from the kernel and checks" : "Evidence from the kernel"
    }

    private static func facts(
        _ explained: ExplainedOutage,
        _ all: [Outage],
        _ snapshot: MonitoringService.Snapshot
    ) -> HTML {
        let outage = explained.outage
        let deciding = outage.deciding(at: snapshot.now)
        let end: HTML = outage.end.map { snapshot.time($0, .exact) } ?? "ongoing"
        let isExact = outage.uncertainty < .milliseconds(1)
        let precision = isExact ? "exact to the millisecond" : "up to \(outage.uncertainty.units) longer"
        let basis = deciding.state.basis == .checks ? "the kernel and active checks" : "the kernel only"
        let ending = outage.ending.map { ending in
            switch ending {
            case .up: "\(outage.target) is up again"
            case .unknown: "observation ended"
            case .maintenance: "maintenance began"
            }
        }
        let others = all.filter { other in
            other.id != outage.id && other.start < (outage.end ?? snapshot.now)
                && (other.end ?? snapshot.now) > outage.start
        }
        let links: [HTML] = others.prefix(12).map {
            "<a href=\"\(PageLink.outage($0.id))\"><bdi>\($0.target)</bdi></a> "
        }
        return PageParts.facts([
            ("Target", PageParts.link(to: outage.target)),
            ("Attribution", "\(Sign.pill(deciding.state.account)) <code>\(deciding.state.description)</code>"),
            ("Caused by", explained.actor.map { "<bdi>\($0.text)</bdi>" }),
            ("Start", snapshot.time(outage.start, .exact)), ("End", end),
            ("Duration", "\(outage.duration(at: snapshot.now).units), \(precision)"), ("Basis", "\(basis)"),
            ("Ended because", ending.map { "\($0)" }), ("Also affected", links.isEmpty ? "nothing else" : "\(links)"),
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

extension MonitoringService.Snapshot {
    /// Returns a list of outages with links to their pages.
    func list(_ outages: [Outage]) -> HTML {
        if outages.isEmpty { return "<p class=\"empty\">No outages.</p>" }
        return "<ol class=\"list\">\(outages.map(item))</ol>"
    }

    private func item(_ outage: Outage) -> HTML {
        let deciding = outage.deciding(at: now)
        let isOpen = outage.end == nil
        let description = StateDescription.sentence(deciding.state, of: outage.target, isPast: !isOpen)
        let length = self.length(from: outage.start, to: outage.end) + (isOpen ? " so far" : "")
        return """
            <li><a href="\(PageLink.outage(outage.id))">\(Sign.svg(deciding.state.account))<b>\(description)</b>\
            <span class="long">\(length)</span>\
            <span class="soft"><bdi>\(outage.target)</bdi> · \(StateDescription.name(deciding.state.account)) · \
            \(time(outage.start))</span></a></li>
            """
    }
}
