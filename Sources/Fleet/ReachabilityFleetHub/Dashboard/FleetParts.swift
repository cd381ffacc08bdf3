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
                .answer(view.clock, host: "Fleet", base: access.basePath, version: version, notice: writer.fault?.text)
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
    /// A list of incidents with links to their pages.
    static func incidents(_ incidents: [IncidentSummary], _ view: HubView) -> HTML {
        if incidents.isEmpty { return "<p class=\"empty\">No incidents.</p>" }
        let items = incidents.map { incident -> HTML in
            let account = incident.attribution.account
            let length: HTML =
                incident.end.map { "\(($0 - incident.start).units)" }
                ?? view.clock.lasting(since: incident.start) + " so far"
            let machines = incident.deviceCount == 1 ? incident.devices.first ?? "" : "\(incident.deviceCount) machines"
            let doubt: HTML? = incident.isUnexplained ? " · some unexplained" : nil
            return """
                <li><a href="\(FleetLink.incident(incident.id))">\(Sign.svg(account))\
                <b>\(FaultDescription.heading(incident.attribution, incident.cause)) · \(incident.site)</b>\
                <span class="long">\(length)</span>\
                <span class="soft">\(machines)\(doubt) · \(view.clock.time(incident.start))</span></a></li>
                """
        }
        return "<ol class=\"list\">\(items)</ol>"
    }

    /// A list of devices with links to their pages.
    static func devices(_ devices: some Sequence<HubDevice>, _ view: HubView, withSite: Bool) -> HTML {
        let items = devices.map { device -> HTML in
            let name = withSite ? device.place.description : device.place.device
            let length: HTML? = view.since(device).map { view.clock.lasting(since: $0) }
            return """
                <li><a href="\(FleetLink.device(device.place))">\(Sign.svg(view.account(of: device)))<b>\(name)</b>\
                <span class="long">\(length)</span><span class="soft">\(view.words(device))</span></a></li>
                """
        }
        return items.isEmpty ? "<p class=\"empty\">No machines.</p>" : "<ol class=\"list\">\(items)</ol>"
    }

    /// Returns a sentence such as `3 of 120 machines are silent`, or `50 of 120 machines are without link, 30 silent`.
    /// Returns nil if all machines are online without a fault.
    static func headline(_ faults: [(words: String, count: Int)], silent: Int, unheard: Int, of all: Int) -> String? {
        func sentence(_ count: Int, _ words: String) -> String {
            "\(count) of \(all) \(all == 1 ? "machine" : "machines") \(count == 1 ? "is" : "are") \(words)"
        }
        let states = faults + (silent > 0 ? [("silent", silent)] : [])
        if let first = states.first {
            return sentence(first.count, first.words)
                + states.dropFirst().map { ", \($0.count) \($0.words)" }.joined()
        }
        return unheard > 0 ? sentence(unheard, "not known yet") : nil
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
