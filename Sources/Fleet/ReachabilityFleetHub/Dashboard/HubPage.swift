import LinuxSupport
import NIOHTTP1
import ReachabilityFleet
import ReachabilityLedger
import ReachabilityServer
import ReachabilityService

/// The pages people look at, by their paths.
enum HubPage: Hashable {
    case overview
    case site(String)
    case devices
    case device(FleetPlace)
    case incidents
    case incident(String)

    /// - Parameter path: The parts of the path, decoded.
    init?(_ path: [String]) {
        switch (path.count, path.first) {
        case (0, _): self = .overview
        case (2, "sites"): self = .site(path[1])
        case (1, "devices"): self = .devices
        case (3, "devices"):
            guard let place = FleetPlace(site: path[1], device: path[2]) else { return nil }
            self = .device(place)
        case (1, "incidents"): self = .incidents
        case (2, "incidents"): self = .incident(path[1])
        default: return nil
        }
    }

    /// Where it is, for links.
    var link: String {
        switch self {
        case .overview: "/"
        case .site(let name): "/sites/\(name.percentEncoded)"
        case .devices: "/devices"
        case .device(let place): "/devices/\(place.site.percentEncoded)/\(place.device.percentEncoded)"
        case .incidents: "/incidents"
        case .incident(let id): "/incidents/\(id.percentEncoded)"
        }
    }

    static let places: [(path: String, name: String)] = [
        ("/", "Now"), ("/devices", "Machines"), ("/incidents", "Incidents"),
    ]
}

extension HubAPI {
    /// A page, made of what is so now.
    func page(_ page: HubPage, _ query: Query) throws(Problem) -> WebAnswer {
        let choice = try page == .devices ? DeviceChoice(query) : nil
        try query.checkNames()
        let view = HubView(keeper.hub, now: clock())
        let layout: Layout?
        switch page {
        case .overview: layout = HubOverviewPage(view, try latest(), follower.status, notifiers()).layout
        case .site(let name): layout = SitePage(view, name, try latest(of: name))?.layout
        case .devices: layout = DevicesPage(view, choice ?? .init()).layout
        case .device(let place): layout = DevicePage(view, place, try latest(of: place.site, place.device))?.layout
        case .incidents: layout = IncidentsPage(view, try latest(limit: 200)).layout
        case .incident(let id):
            layout = try known(id).map { IncidentPage(view, $0).layout }
        }
        let notice = keeper.fault?.text
        return (layout ?? Self.missing)
            .answer(view.clock, host: "Fleet", notice: notice, layout == nil ? .notFound : .ok)
    }

    private func latest(
        of site: String? = nil,
        _ device: String? = nil,
        limit: Int = 12
    ) throws(Problem) -> [IncidentSummary] {
        let query = IncidentQuery(site: site, device: device, limit: limit)
        return try disk { () throws(HistoryFault) in try store.incidents(query) }
    }

    private func known(_ id: String) throws(Problem) -> FleetIncident? {
        try disk { () throws(HistoryFault) in try store.incident(id) }
    }

    private static let missing = Layout(
        title: "Nothing is there",
        account: .unknown,
        place: "",
        places: HubPage.places,
        main: """
            <section class="hero t-unknown">\(Sign.svg(.unknown, size: "big"))<div><h1>Nothing is there.</h1>\
            <p class="lead">It may be forgotten, or the address is mistyped. <a href="/">How it is now</a>, \
            <a href="/incidents">the incidents that are known</a>.</p></div></section>
            """
    )
}
