import LinuxSupport
import ReachabilityFleet
import ReachabilityLedger
import ReachabilityServer
import ReachabilityService

/// The addresses of a hub's pages.
enum FleetLink {
    static func site(_ name: String) -> String { "/sites/\(name.percentEncoded)" }
    static func incident(_ id: String) -> String { "/incidents/\(id.percentEncoded)" }
    static func device(_ place: DeviceID) -> String {
        "/devices/\(place.site.percentEncoded)/\(place.device.percentEncoded)"
    }
}

extension Layout {
    /// Creates a page of a hub.
    init(_ title: String, _ account: LedgerAccount, at place: String, main: HTML) {
        self.init(title: title, account: account, place: place, places: Self.hubPlaces, main: main)
    }

    static let hubPlaces: [(path: String, name: String)] = [
        ("/", "Now"), ("/devices", "Machines"), ("/incidents", "Incidents"),
    ]
}

extension HubAPI {
    /// Returns the route of a page. If `make` returns nil, the answer is 404.
    func page(_ path: String, _ make: @escaping @Sendable (Query, HubView) throws(Problem) -> Layout?) -> Route {
        .page(path, on: .disk) { query throws(Problem) in
            let view = HubView(writer.hub, now: clock())
            let layout = try make(query, view)
            try query.checkNames()
            let list: HTML = "<a href=\"/incidents\">all incidents</a>"
            return (layout ?? .missing("Page not found", list: list, places: Layout.hubPlaces))
                .answer(
                    view.clock,
                    host: "Fleet",
                    root: query.request.root,
                    version: version,
                    notice: writer.fault?.text
                )
        }
    }

    /// Returns the latest incidents.
    func latest(of site: String? = nil, _ device: String? = nil, limit: Int = 12) throws(Problem) -> [IncidentSummary] {
        let query = IncidentQuery(site: site, device: device, limit: limit)
        return try disk { () throws(HistoryError) in try store.incidents(query) }
    }
}

/// The building blocks of a hub's pages.
enum FleetParts {
    /// Returns the section on top of a page with one sentence.
    static func hero(
        _ account: LedgerAccount,
        _ sentence: String,
        when: HTML? = nil,
        lead: HTML? = nil
    ) -> HTML {
        let title: HTML = "\(sentence).\(tag(account))"
        return PageParts.hero(
            mark: account.rawValue,
            title,
            saying: sentence,
            when: when,
            lead: lead,
            isTagged: false
        )
    }

    /// Returns the name of the party that is responsible for a state; nil for a state without an outage.
    static func tag(_ account: LedgerAccount) -> HTML? {
        account == .us ? " <span class=\"tag\">\(name(account))</span>" : Sign.tag(account.rawValue)
    }

    /// Returns the name of an account. "This machine" would be the one of the hub.
    static func name(_ account: LedgerAccount) -> String {
        account == .us ? "the machine" : StateDescription.name(account)
    }

    /// Returns the legend of colours and patterns.
    static func legend(_ accounts: [LedgerAccount]) -> HTML { Sign.legend(accounts, name: name) }

    /// Returns a list of incidents with links to their pages.
    static func incidents(_ incidents: [IncidentSummary], _ view: HubView) -> HTML {
        let rows = incidents.map { incident in
            let length = incident.end.map { $0 - incident.start }
            return IncidentRow(
                link: FleetLink.incident(incident.id),
                mark: incident.attribution.account.rawValue,
                party: tag(incident.attribution.account),
                start: incident.start,
                incident.heading(of: view.sites.count),
                reason: incident.isUnexplained
                    ? "\(incident.attribution == .unknown ? "The reason is" : "Some reasons are") not known yet." : nil,
                affected: incident.devices,
                count: incident.deviceCount,
                length: length.map { "<span title=\"\($0.units)\">\($0.rounded)</span>" }
            )
        }
        return PageParts.incidents(rows, view.clock)
    }

    /// Returns a list of devices with links to their pages.
    static func devices(_ devices: some Sequence<HubDevice>, _ view: HubView) -> HTML {
        let items = devices.map { device -> HTML in
            let account = view.account(of: device)
            let reason: HTML? = view.reason(of: device).map { "<small>\(tag(account))\($0)</small>" }
            return PageParts.target(
                mark: account.rawValue,
                "<a href=\"\(FleetLink.device(device.place))\"><bdi>\(device.place.device)</bdi></a>",
                summary: "\(device.place.site)",
                state: view.state(of: device),
                since: view.since(device).map { view.clock.lasting(since: $0) },
                reason: reason
            )
        }
        return items.isEmpty ? "<p class=\"empty\">No machines.</p>" : "<ul class=\"targets machines\">\(items)</ul>"
    }

    /// Renders a bar of the devices of a site by state. If the devices are few, each has its own segment.
    static func shares(_ site: HubSite, label: String) -> HTML {
        let whole = max(1, site.deviceCount)
        let accounts = [LedgerAccount.us, .upstream, .them, .unknown, .maintenance, .up]
        let shares = accounts.map { ($0, Double(site.accounts[$0] ?? 0) / Double(whole)) }
        let cuts = (1..<max(1, whole > fewMachines ? 1 : whole)).map { number -> HTML in
            "<rect class=\"cut\" x=\"\((Double(number) / Double(whole)).percentText)%\" width=\"1\" height=\"100%\"/>"
        }
        return PageParts.shareBar(shares, height: 22, label: label, marks: cuts)
    }

    /// The maximum number of devices with their own segments.
    private static let fewMachines = 24

    /// Returns a text such as `12 online, 1 silent`.
    static func counts(_ site: HubSite) -> String {
        let parts = DevicePresence.Standing.allCases.compactMap { standing in
            site.count(standing) > 0 ? "\(site.count(standing)) \(words(standing))" : nil
        }
        return parts.joined(separator: ", ")
    }

    static func words(_ standing: DevicePresence.Standing) -> String {
        switch standing {
        case .online: "online"
        case .silent: "silent"
        case .unknown: "not known yet"
        case .sleeping: "asleep"
        case .leaving: "shut down"
        }
    }
}
