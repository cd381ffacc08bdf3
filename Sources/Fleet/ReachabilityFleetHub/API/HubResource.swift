import LinuxSupport
import NIOHTTP1
import ReachabilityFleet
import ReachabilityServer

/// What can be asked of a hub, by its path.
enum HubResource: Hashable {
    case health, readiness, metrics
    /// What can be asked for, as OpenAPI has it.
    case description
    /// Has the configuration read again.
    case reload
    case status
    case sites
    case devices
    case device(FleetPlace)
    case incidents
    case incident(String)
    case stream
    /// The same events, page by page.
    case events
    case page(HubPage)
    case asset(String)

    /// - Parameter path: The parts of the path, decoded.
    /// - Throws: ``Problem`` where nothing is there.
    init(_ path: [String]) throws(Problem) {
        switch (path.count, path.first, path.dropFirst().first) {
        case (1, "healthz", _): self = .health
        case (1, "readyz", _): self = .readiness
        case (1, "metrics", _): self = .metrics
        case (1, "openapi.json", _): self = .description
        case (2, "v1", "reload"): self = .reload
        case (2, "v1", "status"): self = .status
        case (2, "v1", "sites"): self = .sites
        case (2, "v1", "devices"): self = .devices
        case (4, "v1", "devices"):
            guard let place = FleetPlace(site: path[2], device: path[3]) else { throw Self.nothing(at: path) }
            self = .device(place)
        case (2, "v1", "incidents"): self = .incidents
        case (3, "v1", "incidents"): self = .incident(path[2])
        case (2, "v1", "stream"): self = .stream
        case (2, "v1", "events"): self = .events
        case (2, "assets", _): self = .asset(path[1])
        default:
            guard let page = HubPage(path) else { throw Self.nothing(at: path) }
            self = .page(page)
        }
    }

    private static func nothing(at path: [String]) -> Problem {
        let place = "/" + path.joined(separator: "/")
        return Problem(
            .notFound,
            "there is nothing at \(place.printable); /v1/devices, /v1/incidents and /metrics are there"
        )
    }

    /// The methods it takes, as `Allow` has them.
    var methods: String {
        switch self {
        case .reload: "POST, OPTIONS"
        case .device, .devices: "GET, HEAD, DELETE, OPTIONS"
        default: "GET, HEAD, OPTIONS"
        }
    }
}
