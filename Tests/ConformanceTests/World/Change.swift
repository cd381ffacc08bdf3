/// One thing that happens to a network, in words that mean the same to a fake kernel and a real one.
///
/// Every world begins with the loopback device, up, and nothing else.
enum Change: Sendable {
    /// A new link, up and with a carrier.
    case add(String, LinkKind = .cable, over: String? = nil)
    case remove(String)
    case up(String)
    case down(String)
    case plug(String)
    case unplug(String)
    case rename(String, to: String)
    case attach(String, to: String)
    case detach(String)
    /// The link waits for something from outside, or no longer (RFC 2863).
    case dormant(String)
    /// A program is to say when the link is operational, and has not yet.
    case waits(String)
    case awake(String)
    case address(String, on: String)
    case removeAddress(String, from: String)
    case addRoute(RouteChange)
    case replaceRoute(RouteChange)
    case removeRoute(RouteChange)
    case addRule(RuleChange)
    case removeRule(Family, priority: UInt32)
    case addNextHop(UInt32, via: String, on: String)
    case replaceNextHop(UInt32, via: String, on: String)
    case addNextHopGroup(UInt32, of: [UInt32])
    case removeNextHop(UInt32)
    /// A router on a link is not found by its neighbours.
    case neighbourFails(String, on: String)
    case neighbourAnswers(String, on: String)
    case forgetNeighbour(String, on: String)
    /// So much time goes by; in a real world it does so by itself.
    case pass(Duration)

    enum Family: Sendable {
        case ipv4
        case ipv6
    }

    enum LinkKind: Sendable {
        /// A virtual cable whose other end is in a second namespace.
        case cable
        case bridge
        case macvlan
        case vxlan
        /// A device that throws packets away.
        case sink
        /// A modem's link: PPP, or raw IP.
        case pointToPoint
        case rawIP
        /// A tunnel served by a program.
        case tunnel
    }
}

extension Change {
    static func route(_ route: RouteChange) -> Change { .addRoute(route) }

    /// The other way round.
    static func defaults(_ make: (RouteChange) -> Change, _ first: Int = 1) -> [Change] {
        [make(RouteChange("0.0.0.0/0", via: "10.\(first).0.1")), make(RouteChange("::/0", via: "fd0\(first)::1"))]
    }

    /// A cable `c0` (or `c1`) with addresses of both families and no default route.
    static func cable(_ name: String = "c0", _ network: Int = 1) -> [Change] {
        [.add(name), .address("10.\(network).0.2/24", on: name), .address("fd0\(network)::2/64", on: name)]
    }

    /// A cable with default routes.
    static let uplink = cable() + defaults(Change.addRoute)

    /// Two cables with addresses, and default routes through the first.
    static let twoUplinks = cable() + cable("c1", 2) + defaults(Change.addRoute)
}
