import LinuxSupport
import ReachabilityFleet
import ReachabilityLedger
import ReachabilityServer
import ReachabilityService

/// How the fleet is now: one sentence, what nobody can explain, the sites, the last incidents.
struct HubOverviewPage {
    let layout: Layout

    /// So many machines and sites are named; the rest is for programs.
    private static let limit = 100

    init(
        _ view: HubView,
        _ latest: [IncidentSummary],
        _ broker: BrokerFollower.Status,
        _ notifiers: [NotifierStatus]
    ) {
        let (account, sentence, lead) = Self.headline(view, broker)
        let unexplained = view.devices().prefix { view.hub.isUnexplained($0.place) }
        let silent: HTML? =
            unexplained.isEmpty
            ? nil
            : """
            <h2 id="silent">Silent, and nobody knows why</h2><div class="card">\
            \(FleetParts.devices(unexplained.prefix(Self.limit), view, withSite: true))</div>\(Self.rest(unexplained.count))
            """
        let open = view.open
        let lasting: HTML? =
            open.isEmpty
            ? nil
            : "<h2 id=\"open\">It lasts</h2><div class=\"card\">\(FleetParts.incidents(Array(open.prefix(Self.limit)), view))</div>"
        let over = latest.filter { $0.end != nil }
        let main: HTML = """
            \(FleetParts.hero(account, sentence, lead: lead))
            <div data-part="silent">\(silent)</div><div data-part="open">\(lasting)</div>
            <h2 id="sites">Sites</h2>
            <section class="card" data-part="sites" aria-labelledby="sites">\(Self.rows(view))</section>
            <h2 id="last">The last incidents that are over</h2>
            <section class="card" data-part="last" aria-labelledby="last">\(FleetParts.incidents(over, view))</section>\(ToldPart.html(notifiers))
            <p class="more"><a href="/devices">All machines</a>. For programs: <a href="/v1/devices"><code>/v1/devices</code></a>, \
            <a href="/v1/incidents"><code>/v1/incidents</code></a></p>
            """
        layout = Layout(title: sentence, account: account, place: "/", places: HubPage.places, main: main)
    }

    private static func headline(
        _ view: HubView,
        _ broker: BrokerFollower.Status
    ) -> (LedgerAccount, String, HTML) {
        let all = view.hub.devices.count
        let machines = all == 1 ? "One machine" : "\(all) machines"
        let places = view.sites.count == 1 ? "one site" : "\(view.sites.count) sites"
        let known: HTML = "\(machines) of \(places). A change shows here the moment it is heard."
        if !broker.isConnected || broker.problem != nil {
            return (.unknown, "The broker cannot be heard", "\(broker.problem ?? "It is being connected"). \(known)")
        }
        if all == 0 {
            return (.unknown, "No machine is known yet", "Start reachability fleet agent on one, with this broker.")
        }
        let first = view.open.first
        let affected = view.sites.reduce(0) { $0 + $1.affected }
        let (silent, unheard) = (view.count(.silent), view.count(.unknown))
        guard
            let sentence = FleetParts.headline(affected: affected, silent: silent, unheard: unheard, of: all)
        else {
            return (.up, all == 1 ? "The machine is heard" : "All \(all) machines are heard", known)
        }
        let count = view.sites.count { $0.affected > 0 }
        let spread = count > 0 && view.sites.count > 1 ? ", at \(count) of \(view.sites.count) sites" : ""
        let account: LedgerAccount = affected == 0 ? .unknown : first?.attribution.account ?? .unknown
        return (account, sentence + spread, "\(first.map { lasting($0, view) }) \(known)")
    }

    /// What lasts, in two sentences: the incident that comes first, and how many others there are.
    private static func lasting(_ first: IncidentSummary, _ view: HubView) -> HTML {
        let machines = first.deviceCount == 1 ? "one machine" : "\(first.deviceCount) machines"
        let others = view.open.count - 1
        let more: HTML? =
            others > 0 ? " \(others == 1 ? "Another incident lasts" : "\(others) more incidents last"), too." : nil
        return """
            \(FaultWords.heading(first.attribution, first.cause)) at \(first.site), \(machines), \
            since \(view.clock.time(first.start)), for \(view.clock.lasting(since: first.start)).\(more)
            """
    }

    private static func rows(_ view: HubView) -> HTML {
        if view.sites.isEmpty { return "<p class=\"empty\">No machine is known yet.</p>" }
        let sorted = view.sites.sorted { one, other in
            (one.unexplained, one.count(.silent), other.name) > (other.unexplained, other.count(.silent), one.name)
        }
        let rows = sorted.prefix(limit).map { site -> HTML in
            let words = FleetParts.counts(site)
            let incidents: HTML? =
                site.incidents.isEmpty
                ? nil
                : "<small>\(site.incidents.count == 1 ? "one incident lasts" : "\(site.incidents.count) incidents last")</small>"
            return """
                <div class="row"><div class="name"><a href="\(HubPage.site(site.name).link)"><bdi>\(site.name)</bdi></a>\
                <small>\(site.deviceCount == 1 ? "one machine" : "\(site.deviceCount) machines")</small></div>\
                <div class="spans">\(FleetParts.shares(site, label: "\(site.name): \(words)"))</div>\
                <div class="state"><p>\(words)</p>\(incidents)</div></div>
                """
        }
        return "\(Array(rows))\(rest(sorted.count))"
    }

    private static func rest(_ count: Int) -> HTML? {
        count > limit ? "<p class=\"more\">And \(count - limit) more.</p>" : nil
    }
}
