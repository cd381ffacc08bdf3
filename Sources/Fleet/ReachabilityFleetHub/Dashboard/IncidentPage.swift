import LinuxSupport
import ReachabilityFleet
import ReachabilityLedger
import ReachabilityServer

/// One incident: what happened to each machine, to scale.
struct IncidentPage {
    let layout: Layout

    /// So many machines have a picture.
    private static let limit = 100

    init(_ view: HubView, _ incident: FleetIncident) {
        let summary = IncidentSummary(incident)
        let account = summary.attribution.account
        let count = summary.deviceCount == 1 ? summary.devices.first ?? "" : "\(summary.deviceCount) machines"
        let sentence = "\(FaultWords.heading(summary.attribution, summary.cause)) at \(summary.site), \(count)"
        let length: HTML =
            summary.end.map { "for \(($0 - summary.start).units)." }
            ?? "for \(view.clock.lasting(since: summary.start)), and goes on."
        let doubt: HTML? = summary.isUnexplained ? "Not every silence is explained yet." : nil
        let more: HTML? =
            incident.parts.count > Self.limit
            ? "<p class=\"more\">And \(incident.parts.count - Self.limit) more.</p>" : nil
        let rows = incident.devices.prefix(Self.limit).map { Self.row($0, incident, view) }
        let main: HTML = """
            \(FleetParts.hero(account, sentence, when: length, lead: doubt))
            <h2 id="scale">To scale</h2>
            <section class="card" data-part="scale" aria-labelledby="scale">\(Array(rows))\(more)</section>\
            \(Sign.legend([.up, .us, .upstream, .them, .unknown]))
            <h2 id="facts">What is known</h2>
            <section class="card" data-part="facts" aria-labelledby="facts">\(Self.facts(summary, view))</section>
            <p class="more">For programs: <a href="/v1/incidents/\(incident.id.percentEncoded)">\
            <code>/v1/incidents/\(incident.id)</code></a></p>
            """
        layout = Layout(
            title: sentence,
            account: summary.end == nil ? account : .up,
            place: "/incidents",
            places: HubPage.places,
            main: main
        )
    }

    /// What befell one machine: its silence, and over it what it tells of itself.
    private static func row(_ device: String, _ incident: FleetIncident, _ view: HubView) -> HTML {
        guard let part = incident.parts[device] else { return "" }
        let link = FleetPlace(site: incident.site, device: device).map { HubPage.device($0).link } ?? "/"
        let verdict = incident.verdict(of: device)
        let own = part.inOrder.last
        let words =
            verdict.map { $0.people } ?? own.map { FaultWords.sentence($0.told.attribution, $0.told.cause) } ?? ""
        return """
            <div class="row"><div class="name"><a href="\(link)"><bdi>\(device)</bdi></a></div>\
            <div class="spans">\(picture(part, verdict, incident, view, label: "\(device): \(words)"))</div>\
            <div class="state"><p>\(words)</p>\(times(part, view))</div></div>
            """
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
        // The rest is known, too: the machine was online, or has reported no outage.
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

    /// When a machine was silent without having an outage of its own, and when it had one.
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
                interval(TargetState(outage.told.attribution, outage.told.cause), outage.start, outage.end ?? now)
            }
    }

    private static func interval(_ state: TargetState, _ start: Duration, _ end: Duration) -> LedgerInterval {
        LedgerInterval(state, from: instant(start), to: instant(max(start, end)))
    }

    private static func instant(_ wall: Duration) -> LedgerInstant { LedgerInstant(since1970: wall) }

    private static func times(_ part: FleetIncident.Part, _ view: HubView) -> HTML {
        let outages = part.inOrder.prefix(3).map { outage -> HTML in
            let end: HTML = outage.end.map { "to \(view.clock.time($0, .exact))" } ?? "and goes on"
            return "<small>\(outage.told.target): \(view.clock.time(outage.start, .exact)) \(end)</small>"
        }
        let rest = part.outages.count - 3
        let more: HTML? = rest > 0 ? "<small>and \(rest) more</small>" : nil
        return "\(Array(outages))\(more)"
    }

    private static func facts(_ summary: IncidentSummary, _ view: HubView) -> HTML {
        let end: HTML = summary.end.map { view.clock.time($0, .exact) } ?? "it goes on"
        let account = summary.attribution.account
        let cause = summary.cause.map { ".\($0.rawValue)" } ?? ""
        return """
            <dl class="facts"><dt>Site</dt><dd><a href="\(HubPage.site(summary.site).link)">\(summary.site)</a></dd>\
            <dt>Whose fault</dt><dd>\(Sign.pill(account)) <code>\(summary.attribution.rawValue)\(cause)</code></dd>\
            <dt>Machines</dt><dd>\(summary.deviceCount)</dd>\
            <dt>Began</dt><dd>\(view.clock.time(summary.start, .exact))</dd><dt>Ended</dt><dd>\(end)</dd></dl>
            """
    }
}
