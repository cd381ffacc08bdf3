import LinuxSupport
import ReachabilityFleet
import ReachabilityLedger
import ReachabilityServer
import ReachabilityService

extension HubAPI {
    /// The maximum number of sites on the overview.
    private static let rowLimit = 100
    /// The maximum number of silent devices on the overview.
    private static let silentLimit = 6
    /// The maximum number of open incidents on the overview.
    private static let openLimit = 20

    /// Renders the overview: the state of the fleet in one sentence, unexplained absences, the sites, and the incidents.
    func overviewPage(_ query: Query, _ view: HubView) throws(Problem) -> Layout {
        let isKiosk = query.text("kiosk") != nil
        let (account, sentence, lead) = Self.headline(view, follower.status)
        let unexplained = view.devices().prefix { view.hub.isUnexplained($0.place) }
        let silent: HTML? =
            unexplained.isEmpty || isKiosk
            ? nil
            : """
            <h2 id="silent">Silent for an unknown reason</h2><div class="card">\
            \(FleetParts.devices(unexplained.prefix(Self.silentLimit), view))</div>\
            <p class="more"><a href="/devices?standing=silent">All silent machines</a></p>
            """
        let incidents = view.open.prefix(Self.openLimit) + (try latest()).filter { $0.end != nil }
        let below: HTML = """
            \(PageParts.card("last", "Incidents <small>one entry per root cause</small>", FleetParts.incidents(Array(incidents), view)))\
            \(PageParts.notifiers(notifiers()))
            \(PageParts.more("<a href=\"/devices\">All machines</a>. <a href=\"/incidents\">All incidents</a>. ", api: "/v1/devices", "/v1/incidents"))
            """
        let main: HTML = """
            \(FleetParts.hero(account, sentence, lead: lead))
            <div data-part="silent">\(silent)</div>
            \(PageParts.card("sites", "Sites", Self.rows(view)))\
            \(FleetParts.legend([.up, .us, .upstream, .them, .unknown, .maintenance]))
            \(isKiosk ? nil : below)
            """
        var layout = Layout(sentence, account, at: "/", main: main)
        layout.isKiosk = isKiosk
        return layout
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
        let (account, sentence) = view.headline(of: view.sites)
        let count = view.sites.count { $0.affected > 0 }
        let spread = count > 0 && view.sites.count > 1 ? ", at \(count) of \(view.sites.count) sites" : ""
        return (account, sentence + spread, "\(view.open.first.map { lasting($0, view) }) \(known)")
    }

    /// Describes the first open incident, and the number of others.
    private static func lasting(_ first: IncidentSummary, _ view: HubView) -> HTML {
        let machines = first.deviceCount == 1 ? "one machine" : "\(first.deviceCount) machines"
        let others = view.open.count - 1
        let more: HTML? =
            others > 0 ? " \(others == 1 ? "Another incident is" : "\(others) more incidents are") open." : nil
        return """
            \(first.heading(of: view.sites.count)), \(machines), \
            since \(view.clock.time(first.start)), for \(view.clock.lasting(since: first.start)).\(more)
            """
    }

    private static func rows(_ view: HubView) -> HTML {
        if view.sites.isEmpty { return "<p class=\"empty\">No machines yet.</p>" }
        let sorted = view.sites.sorted { one, other in
            let (left, right) = ((one.unexplained, one.affected), (other.unexplained, other.affected))
            return left == right ? one.name < other.name : left > right
        }
        let rows = sorted.prefix(rowLimit).map { site -> HTML in
            let account = view.headline(of: [site]).account
            let states = HubSite.affected(at: [site]).map { "\($0.count) \($0.words)" }
            let worst = view.open.first { $0.sites.contains(site.name) }
            let reason: HTML? = worst.map { incident in
                "<small>\(FleetParts.tag(account))\(FaultDescription.heading(incident.attribution, incident.cause))</small>"
            }
            return PageParts.target(
                mark: account.rawValue,
                "<a href=\"\(FleetLink.site(site.name))\"><bdi>\(site.name)</bdi></a>",
                summary: site.deviceCount == 1 ? "one machine" : "\(site.deviceCount) machines",
                """
                \(FleetParts.shares(site, label: "\(site.name): \(FleetParts.counts(site))"))\
                <span class="share">\(site.count(.online)) online</span>
                """,
                state: states.isEmpty ? "no fault" : states.joined(separator: ", "),
                since: worst.map { view.clock.lasting(since: $0.start) },
                reason: reason
            )
        }
        let more: HTML? =
            sorted.count > rowLimit ? "<p class=\"empty\">And \(sorted.count - rowLimit) more.</p>" : nil
        return "<ul class=\"targets sites\">\(Array(rows))</ul>\(more)"
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
        let (account, sentence) = view.headline(of: [site])
        let more: HTML? =
            devices.count > Self.siteDeviceLimit
            ? """
            <p class="more">And \(devices.count - Self.siteDeviceLimit) more: <a href="/devices?site=\(name.percentEncoded)">all machines</a>.</p>
            """ : nil
        let counts = FleetParts.counts(site)
        let shares: HTML = "<div class=\"inside\">\(FleetParts.shares(site, label: counts))</div>"
        let list = FleetParts.devices(devices.prefix(Self.siteDeviceLimit), view)
        let main: HTML = """
            \(FleetParts.hero(account, "\(name): \(sentence)", lead: "\(counts)."))
            \(PageParts.card("share", "Overview", shares))\
            \(FleetParts.legend([.up, .us, .upstream, .them, .unknown, .maintenance]))
            \(PageParts.card("machines", "Machines", "\(list)\(more)"))
            \(PageParts.card("incidents", "Incidents", FleetParts.incidents(try latest(of: name), view)))
            \(PageParts.more(api: "/v1/devices?site=\(name.percentEncoded)"))
            """
        return Layout("\(name): \(sentence)", account, at: "/", main: main)
    }
}
