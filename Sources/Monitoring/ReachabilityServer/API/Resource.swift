import LinuxSupport
import NIOHTTP1

/// What can be asked for, by its path.
enum Resource: Hashable {
    case health, readiness, metrics, probe
    /// What can be asked for, as OpenAPI has it.
    case description
    case status
    case targets
    case target(String)
    case intervals(String)
    case availabilityOf(String)
    case checks(String)
    /// Has one made.
    case check(String)
    case outages
    case outage(String)
    /// Writes one about an outage.
    case note(String)
    case availability
    /// One outage, in the form that is asked for.
    case report(String)
    /// Why a target is as it is now.
    case why(String)
    /// What is announced.
    case maintenances
    case maintenance(String)
    /// What is in force.
    case configuration
    case reload
    case stream
    /// The same events, page by page.
    case events
    case page(DashboardPage)
    case sheet(DashboardSheet)
    case asset(String)

    /// - Parameter path: The parts of the path, decoded.
    /// - Throws: ``Problem`` where nothing is there.
    init(_ path: [String]) throws(Problem) {
        switch (path.count, path.first, path.dropFirst().first) {
        case (1, "healthz", _): self = .health
        case (1, "readyz", _): self = .readiness
        case (1, "metrics", _): self = .metrics
        case (1, "probe", _): self = .probe
        case (1, "openapi.json", _): self = .description
        case (2, "v1", "status"): self = .status
        case (2, "v1", "targets"): self = .targets
        case (3, "v1", "targets"): self = .target(path[2])
        case (4, "v1", "targets") where path[3] == "intervals": self = .intervals(path[2])
        case (4, "v1", "targets") where path[3] == "availability": self = .availabilityOf(path[2])
        case (4, "v1", "targets") where path[3] == "checks": self = .checks(path[2])
        case (4, "v1", "targets") where path[3] == "check": self = .check(path[2])
        case (2, "v1", "outages"): self = .outages
        case (3, "v1", "outages"): self = .outage(path[2])
        case (4, "v1", "outages") where path[3] == "note": self = .note(path[2])
        case (2, "v1", "availability"): self = .availability
        case (4, "v1", "outages") where path[3] == "report": self = .report(path[2])
        case (3, "v1", "why"): self = .why(path[2])
        case (2, "v1", "maintenance"): self = .maintenances
        case (3, "v1", "maintenance"): self = .maintenance(path[2])
        case (2, "v1", "config"): self = .configuration
        case (2, "v1", "reload"): self = .reload
        case (2, "v1", "stream"): self = .stream
        case (2, "v1", "events"): self = .events
        case (2, "assets", _): self = .asset(path[1])
        default:
            if path.count == 1, let sheet = DashboardSheet(rawValue: path[0]) {
                self = .sheet(sheet)
                return
            }
            if let page = DashboardPage(path) {
                self = .page(page)
                return
            }
            let path = "/" + path.joined(separator: "/")
            throw Problem(
                .notFound,
                "there is nothing at \(path.printable); /v1/status, /v1/outages and /metrics are there"
            )
        }
    }

    /// The methods it takes, as `Allow` has them.
    var methods: String {
        if case .maintenance = self { return "GET, HEAD, PUT, DELETE, OPTIONS" }
        return isAction ? "POST, OPTIONS" : "GET, HEAD, OPTIONS"
    }

    /// Whether something is done, and there is nothing to read.
    var isAction: Bool {
        switch self {
        case .reload, .check, .note: true
        default: false
        }
    }
}
