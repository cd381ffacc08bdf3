import LinuxSupport
import ReachabilityFleet
import ReachabilityLedger
import ReachabilityServer
import ReachabilityService

extension HubAPI {
    /// The maximum number of devices and of sites on the overview.
    private static let overviewLimit = 100

    /// Renders the overview: the state of the fleet in one sentence, unexplained absences, the sites, and the latest
    /// incidents.
    func overviewPage(_: Query, _ view: HubView) throws(Problem) -> Layout {
        let (account, sentence, lead) = Self.headline(view, follower.status)
        let unexplained = view.devices().prefix { view.hub.isUnexplained($0.place) }
        let silent: HTML? =
            unexplained.isEmpty
            ? nil
            : """
            <h2 id="silent">Silent for an unknown reason</h2><div class="card">\
            \(FleetParts.devices(unexplained.prefix(Self.overviewLimit), view, withSite: true))</div>\(Self.rest(unexplained.count))
            """
        let open = view.open
        let lasting: HTML? =
            open.isEmpty
            ? nil
            : "<h2 id=\"open\">Open incidents</h2><div class=\"card\">\(FleetParts.incidents(Array(open.prefix(Self.overviewLimit)), view))</div>"
        let over = try latest().filter { $0.end != nil }
        let main: HTML = """
            \(PageParts.hero(account, sentence, lead: lead))
            <div data-part="silent">\(silent)</div><div data-part="open">\(lasting)</div>
            \(PageParts.card("sites", "Sites", Self.rows(view)))
            \(PageParts.card("last", "Latest ended incidents", FleetParts.incidents(over, view)))\
            \(PageParts.notifiers(notifiers()))
            \(PageParts.more("<a href=\"/devices\">All machines</a>. ", api: "/v1/devices", "/v1/incidents"))
            """
        return Layout(sentence, account, at: "/", main: main)
    }

    private static func headline(_ view: HubView, _ broker: BrokerFollower.Status) -> (LedgerAccount, String, HTML) {
        let all = view.hub.devices.count
        let machines = all == 1 ? "One machine" : "\(all) machines"
        let places = view.sites.count == 1 ? "one site" : "\(view.sites.count) sites"
        let known: HTML = "\(machines) of \(places). This page is updated immediately."
        if !broker.isConnected || broker.problem != nil {
            return (.unknown, "No connection to the broker", "\(broker.problem ?? "Connecting"). \(known)")
        }
        if all == 0 {
            return (.unknown, "No machines yet", "Start reachability fleet agent on a machine, with this broker.")
        }
        let first = view.open.first
        let affected = view.sites.reduce(0) { $0 + $1.affected }
        let (silent, unheard) = (view.count(.silent), view.count(.unknown))
        guard
            let sentence = FleetParts.headline(view.faultCounts, silent: silent, unheard: unheard, of: all)
        else {
            return (.up, all == 1 ? "The machine is online" : "All \(all) machines are online", known)
        }
        let count = view.sites.count { $0.affected > 0 }
        let spread = count > 0 && view.sites.count > 1 ? ", at \(count) of \(view.sites.count) sites" : ""
        let account: LedgerAccount = affected == 0 ? .unknown : first?.attribution.account ?? .unknown
        return (account, sentence + spread, "\(first.map { lasting($0, view) }) \(known)")
    }

    /// Describes the first open incident, and the number of others.
    private static func lasting(_ first: IncidentSummary, _ view: HubView) -> HTML {
        let machines = first.deviceCount == 1 ? "one machine" : "\(first.deviceCount) machines"
        let others = view.open.count - 1
        let more: HTML? =
            others > 0 ? " \(others == 1 ? "Another incident is" : "\(others) more incidents are") open." : nil
        return """
            \(FaultDescription.heading(first.attribution, first.cause)) at \(first.site), \(machines), \
            since \(view.clock.time(first.start)), for \(view.clock.lasting(since: first.start)).\(more)
            """
    }

    private static func rows(_ view: HubView) -> HTML {
        if view.sites.isEmpty { return "<p class=\"empty\">No machines yet.</p>" }
        let sorted = view.sites.sorted { one, other in
            (one.unexplained, one.count(.silent), other.name) > (other.unexplained, other.count(.silent), one.name)
        }
        let rows = sorted.prefix(overviewLimit).map { site -> HTML in
            let words = FleetParts.counts(site)
            let incidents: HTML? =
                site.incidents.isEmpty
                ? nil
                : "<small>\(site.incidents.count == 1 ? "1 open incident" : "\(site.incidents.count) open incidents")</small>"
            return PageParts.row(
                """
                <a href="\(FleetLink.site(site.name))"><bdi>\(site.name)</bdi></a>\
                <small>\(site.deviceCount == 1 ? "one machine" : "\(site.deviceCount) machines")</small>
                """,
                "<div class=\"spans\">\(FleetParts.shares(site, label: "\(site.name): \(words)"))</div>",
                state: "<p>\(words)</p>\(incidents)"
            )
        }
        return "\(Array(rows))\(rest(sorted.count))"
    }

    private static func rest(_ count: Int) -> HTML? {
        count > overviewLimit ? "<p class=\"more\">And \(count - overviewLimit) more.</p>" : nil
    }
}

extension HubAPI {
    /// The maximum number of devices on the page of a site.
    private static let siteDeviceLimit = 500

    /// Renders a site: its devices, silent devices first, and its incidents.
    func sitePage(_ query: Query, _ view: HubView) throws(Problem) -> Layout? {
        let name = query["site"]
        guard let site = view.sites.first(where: { $0.name == name }) else { return nil }
        let devices = view.devices(of: name)
        let away = site.count(.silent) + site.count(.unknown)
        let account: LedgerAccount =
            site.unexplained > 0 ? .unknown : site.count(.silent) > 0 ? .them : away > 0 ? .unknown : .up
        let sentence =
            away == 0
            ? "All machines of \(name) are known"
            : "\(away) of \(site.deviceCount) at \(name) \(away == 1 ? "is" : "are") silent or not known"
        let more: HTML? =
            devices.count > Self.siteDeviceLimit
            ? """
            <p class="more">And \(devices.count - Self.siteDeviceLimit) more: <a href="/devices?site=\(name.percentEncoded)">all machines</a>.</p>
            """ : nil
        let counts = FleetParts.counts(site)
        let shares: HTML = "<div class=\"inside\">\(FleetParts.shares(site, label: counts))</div>"
        let list = FleetParts.devices(devices.prefix(Self.siteDeviceLimit), view, withSite: false)
        let main: HTML = """
            \(PageParts.hero(account, sentence, lead: "\(counts)."))
            \(PageParts.card("share", "Overview", shares))
            \(PageParts.card("machines", "Machines", "\(list)\(more)"))
            \(PageParts.card("incidents", "Incidents", FleetParts.incidents(try latest(of: name), view)))
            \(PageParts.more(api: "/v1/devices?site=\(name.percentEncoded)"))
            """
        return Layout(sentence, account, at: "/", main: main)
    }
}
