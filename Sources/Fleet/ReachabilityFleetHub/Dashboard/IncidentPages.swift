import LinuxSupport
import ReachabilityFleet
import ReachabilityLedger
import ReachabilityServer
import ReachabilityService

extension HubAPI {
    /// The maximum number of incidents on a page.
    private static let incidentLimit = 50

    /// Renders the incidents of all sites: open ones, then the latest.
    func incidentsPage(_ query: Query, _ view: HubView) throws(Problem) -> Layout {
        let (after, limit) = (query.after, Self.incidentLimit)
        let found = try disk { () throws(HistoryError) in
            try store.incidents(IncidentQuery(after: after, limit: limit + 1))
        }
        let latest = found.prefix(limit)
        let next = found.count > limit ? latest.last?.id : nil
        let first = after == nil ? view.open.prefix(limit) : []
        let known = Set(first.map(\.id))
        let listed = first + latest.filter { !known.contains($0.id) }
        let older: HTML? = next.map { "<a href=\"\(Query.link("/incidents", [("after", $0)]))\">Older</a>. " }
        let newest: HTML? = after == nil ? nil : "<a href=\"/incidents\">The latest</a>. "
        let open = view.open.count
        let sentence =
            listed.isEmpty
            ? "No incident so far"
            : open == 0 ? "No open incidents" : open == 1 ? "1 open incident" : "\(open) open incidents"
        let account: LedgerAccount = view.open.first?.attribution.account ?? .up
        let lead: HTML = """
            An incident combines all silences and outages with one common cause at a site, or the failure of one target from \
            several sites. It follows the outages that machines \
            report. A silence opens an incident earlier, and is explained when the machine is back.
            """
        let main: HTML = """
            \(FleetParts.hero(account, sentence, lead: lead))
            \(PageParts.card("list", "Incidents", FleetParts.incidents(Array(listed), view)))
            \(PageParts.more("\(newest)\(older)", api: "/v1/incidents"))
            """
        return Layout(sentence, account, at: "/incidents", main: main)
    }
}

extension HubAPI {
    /// The maximum number of devices with a bar.
    private static let barLimit = 100
    /// The maximum number of links to sites.
    private static let siteLinkLimit = 20

    /// Renders an incident with the absences and the outages of each device, on a common time scale.
    func incidentPage(_ query: Query, _ view: HubView) throws(Problem) -> Layout? {
        let id = query["id"]
        guard let incident = try disk({ () throws(HistoryError) in try store.incident(id) }) else { return nil }
        let summary = IncidentSummary(incident)
        let account = summary.attribution.account
        let count = summary.deviceCount == 1 ? summary.devices.first ?? "" : "\(summary.deviceCount) machines"
        let sentence = "\(summary.heading(of: view.sites.count)), \(count)"
        let length: HTML =
            summary.end.map { "for \(($0 - summary.start).units)." }
            ?? "for \(view.clock.lasting(since: summary.start)), ongoing."
        let doubt: HTML? = summary.isUnexplained ? "Some absences are not explained yet." : nil
        let more: HTML? =
            incident.parts.count > Self.barLimit
            ? "<p class=\"more\">And \(incident.parts.count - Self.barLimit) more.</p>" : nil
        let rows = incident.devices.prefix(Self.barLimit).map { Self.row($0, incident, view) }
        let main: HTML = """
            \(FleetParts.hero(account, sentence, when: length, lead: doubt))
            \(PageParts.card("scale", "Timeline", "\(Array(rows))\(more)"))\
            \(FleetParts.legend([.up, .us, .upstream, .them, .unknown]))
            \(PageParts.card("facts", "Details", Self.facts(summary, view)))
            \(PageParts.more(api: "/v1\(FleetLink.incident(incident.id))"))
            """
        return Layout(sentence, summary.end == nil ? account : .up, at: "/incidents", main: main)
    }

    /// Renders the absence and the outages of a device.
    private static func row(_ device: String, _ incident: FleetIncident, _ view: HubView) -> HTML {
        guard let part = incident.parts[device] else { return "" }
        let place = incident.place(of: device)
        let link = place.map { FleetLink.device($0) } ?? "/"
        let verdict = incident.verdict(of: device)
        let name = incident.isShared ? place?.description ?? device : device
        let own = part.inOrder.last
        let words =
            verdict.map { $0.people } ?? own.map {
                FaultDescription.sentence($0.reported.attribution, $0.reported.cause)
            } ?? ""
        return PageParts.row(
            "<a href=\"\(link)\"><bdi>\(name)</bdi></a>",
            "<div class=\"spans\">\(picture(part, verdict, incident, view, label: "\(name): \(words)"))</div>",
            state: "<p>\(words)</p>\(times(part, view))"
        )
    }

    private static func picture(
        _ part: FleetIncident.Part,
        _ verdict: SilenceVerdict?,
        _ incident: FleetIncident,
        _ view: HubView,
        label: String
    ) -> HTML {
        let end = incident.end ?? view.now
        let margin = max(Duration.seconds(1), (end - incident.start) / 10)
        let last = min(end + margin, max(view.now, end))
        var intervals = times(of: part, verdict, until: view.now)
        // In the rest of the time the device was online, or has not reported an outage.
        var reached = incident.start - margin
        for interval in intervals.sorted(by: { $0.start < $1.start }) {
            let start = Duration.nanoseconds(interval.start.nanoseconds)
            if start > reached { intervals.append(Self.interval(TargetState(.up), reached, start)) }
            reached = max(reached, interval.end.map { .nanoseconds($0.nanoseconds) } ?? view.now)
        }
        if reached < last { intervals.append(Self.interval(TargetState(.up), reached, last)) }
        let (from, to) = (instant(incident.start - margin), instant(last))
        let bar = TimeBar(from: from, to: to, height: 26).svg(intervals, label: label)
        return """
            <div>\(bar)<div class="axis" aria-hidden="true"><span>\(view.clock.time(incident.start - margin))</span>\
            <span>\(view.clock.time(last))</span></div></div>
            """
    }

    /// Returns the outages of a device, and its absence unless an outage explains it.
    private static func times(
        of part: FleetIncident.Part,
        _ verdict: SilenceVerdict?,
        until now: Duration
    ) -> [LedgerInterval] {
        var intervals: [LedgerInterval] = []
        if let gap = part.gap, !part.isExplainedByOutage {
            let state = TargetState(verdict?.attribution ?? .unknown, verdict?.cause ?? .notObserved)
            intervals.append(interval(state, gap.since, gap.until ?? now))
        }
        return intervals
            + part.inOrder.map { outage in
                interval(
                    TargetState(outage.reported.attribution, outage.reported.cause),
                    outage.start,
                    outage.end ?? now
                )
            }
    }

    private static func interval(_ state: TargetState, _ start: Duration, _ end: Duration) -> LedgerInterval {
        LedgerInterval(state, from: instant(start), to: instant(max(start, end)))
    }

    private static func instant(_ wall: Duration) -> LedgerInstant { LedgerInstant(since1970: wall) }

    private static func times(_ part: FleetIncident.Part, _ view: HubView) -> HTML {
        let outages = part.inOrder.prefix(3).map { outage -> HTML in
            let end: HTML = outage.end.map { "to \(view.clock.time($0, .exact))" } ?? "until now"
            return "<small>\(outage.reported.target): \(view.clock.time(outage.start, .exact)) \(end)</small>"
        }
        let rest = part.outages.count - 3
        let more: HTML? = rest > 0 ? "<small>and \(rest) more</small>" : nil
        return "\(Array(outages))\(more)"
    }

    private static func facts(_ summary: IncidentSummary, _ view: HubView) -> HTML {
        let end: HTML = summary.end.map { view.clock.time($0, .exact) } ?? "ongoing"
        let account = summary.attribution.account
        let links = summary.sites.prefix(Self.siteLinkLimit).map { site -> HTML in
            "<a href=\"\(FleetLink.site(site))\">\(site)</a> "
        }
        let rest = summary.sites.count - Self.siteLinkLimit
        let more: HTML? = rest > 0 ? "and \(rest) more" : nil
        return PageParts.facts([
            (summary.sites.count > 1 ? "Sites" : "Site", "\(links)\(more)"),
            ("Target", summary.target.map { "\($0)" }),
            ("Attribution", "\(Sign.pill(account, name: FleetParts.name(account)))"),
            ("Machines", "\(summary.deviceCount)"), ("Began", view.clock.time(summary.start, .exact)), ("Ended", end),
        ])
    }
}
