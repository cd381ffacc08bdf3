/// A change of a network that a fake kernel and a real one can perform.
///
/// Every world starts with only the loopback device, which is up.
enum Change: Sendable {
    /// Adds a link that is up and has carrier.
    case add(String, LinkKind = .cable, over: String? = nil)
    case remove(String)
    case up(String)
    case down(String)
    case plug(String)
    case unplug(String)
    case rename(String, to: String)
    case attach(String, to: String)
    case detach(String)
    /// Makes a link dormant: it waits for an external event (RFC 2863). `awake` ends this.
    case dormant(String)
    /// Makes a link wait for a program that reports when the link is operational.
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
    /// Makes the neighbour resolution of a router on a link fail.
    case neighbourFails(String, on: String)
    case neighbourAnswers(String, on: String)
    case forgetNeighbour(String, on: String)
    /// Advances the clock of a fake world. In a real world the test waits for the result.
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
        /// A device that discards packets.
        case sink
        /// The link of a modem with PPP. `rawIP` is a modem without PPP.
        case pointToPoint
        case rawIP
        /// A tunnel served by a program.
        case tunnel
    }
}

extension Change {
    static func route(_ route: RouteChange) -> Change { .addRoute(route) }

    /// Returns changes of the default routes of both families through the router of an uplink.
    static func defaults(_ make: (RouteChange) -> Change, _ first: Int = 1) -> [Change] {
        [make(RouteChange("0.0.0.0/0", via: "10.\(first).0.1")), make(RouteChange("::/0", via: "fd0\(first)::1"))]
    }

    /// Returns a cable `c0` or `c1` with addresses of both families and no default route.
    static func cable(_ name: String = "c0", _ network: Int = 1) -> [Change] {
        [.add(name), .address("10.\(network).0.2/24", on: name), .address("fd0\(network)::2/64", on: name)]
    }

    /// A cable with default routes.
    static let uplink = cable() + defaults(Change.addRoute)

    /// Two cables with addresses, and default routes through the first.
    static let twoUplinks = cable() + cable("c1", 2) + defaults(Change.addRoute)
}

/// A route with the properties that the tests need, as arguments for `ip route`.
struct RouteChange: Sendable {
    enum Kind: String, Sendable {
        case unicast
        case local
        case blackhole
        case unreachable
        case prohibit
        case throwing = "throw"
    }

    let destination: String
    private let family: Change.Family
    private var words: [String]

    init(
        _ destination: String,
        via gateway: String? = nil,
        on link: String? = nil,
        metric: UInt32? = nil,
        table: UInt32 = 254,
        _ kind: Kind = .unicast
    ) {
        self.destination = destination
        family = destination.contains(":") ? .ipv6 : .ipv4
        words = (kind == .unicast ? [] : [kind.rawValue]) + [destination]
        if let gateway {
            words += gateway.contains(":") == (family == .ipv6) ? ["via", gateway] : ["via", "inet6", gateway]
        }
        if let link { words += ["dev", link] }
        if let metric { words += ["metric", String(metric)] }
        if table != 254 { words += ["table", String(table)] }
    }

    /// Creates a route with several hops, each with its router and link.
    init(_ destination: String, hops: [(String, String)]) {
        self.init(destination)
        for (gateway, link) in hops { words += ["nexthop", "via", gateway, "dev", link] }
    }

    init(_ destination: String, nextHop: UInt32) {
        self.init(destination)
        words += ["nhid", String(nextHop)]
    }

    /// Returns the route with a lifetime. Only IPv6 has lifetimes.
    func expiring(after seconds: Int) -> RouteChange {
        var route = self
        route.words += ["expires", String(seconds)]
        return route
    }

    fileprivate func command(_ verb: String) -> String {
        ([family.option, "route", verb] + words).joined(separator: " ")
    }
}

/// A policy rule with the properties that the tests need, as a command of `ip`.
struct RuleChange: Sendable {
    enum Action: Sendable {
        case lookUp(UInt32)
        case prohibit
        case unreachable
        case blackhole
    }

    fileprivate let command: String

    init(
        family: Change.Family = .ipv4,
        priority: UInt32 = 100,
        from source: String? = nil,
        to destination: String? = nil,
        mark: UInt32? = nil,
        _ action: Action
    ) {
        var words = [family.option, "rule add pref \(priority)"]
        if let source { words += ["from", source] }
        if let destination { words += ["to", destination] }
        if let mark { words += ["fwmark", String(mark)] }
        switch action {
        case .lookUp(let table): words += ["lookup", String(table)]
        case .prohibit, .unreachable, .blackhole: words.append("\(action)")
        }
        command = words.joined(separator: " ")
    }
}

extension Change {
    /// The commands for `ip`; nil if commands are not sufficient.
    var commands: [String]? {
        switch self {
        case .add(let name, let kind, let lower): kind.commands(name, over: lower ?? "")
        case .remove(let name): ["link del \(name)"]
        case .up(let name): ["link set \(name) up"]
        case .down(let name): ["link set \(name) down"]
        case .plug, .unplug, .dormant: nil
        case .waits(let name): ["link set \(name) mode dormant"]
        case .awake(let name): ["link set \(name) state up", "link set \(name) mode default"]
        case .rename(let name, let other): ["link set \(name) name \(other)"]
        case .attach(let name, let controller): ["link set \(name) master \(controller)"]
        case .detach(let name): ["link set \(name) nomaster"]
        case .address(let address, let name):
            ["addr add \(address) dev \(name)" + (address.contains(":") ? " nodad" : "")]
        case .removeAddress(let address, let name): ["addr del \(address) dev \(name)"]
        case .addRoute(let route): [route.command("add")]
        case .replaceRoute(let route): [route.command("replace")]
        case .removeRoute(let route): [route.command("del")]
        case .addRule(let rule): [rule.command]
        case .removeRule(let family, let priority): ["\(family.option) rule del pref \(priority)"]
        case .addNextHop(let id, let gateway, let name): ["nexthop add id \(id) via \(gateway) dev \(name)"]
        case .replaceNextHop(let id, let gateway, let name): ["nexthop replace id \(id) via \(gateway) dev \(name)"]
        case .addNextHopGroup(let id, let members):
            ["nexthop add id \(id) group \(members.map(String.init).joined(separator: "/"))"]
        case .removeNextHop(let id): ["nexthop del id \(id)"]
        case .neighbourFails(let address, let name):
            // The kernel does not report a failed neighbour that it did not know before.
            ["stale", "failed"].map { "neigh replace \(address) lladdr 02:00:00:00:00:99 dev \(name) nud \($0) router" }
        case .neighbourAnswers(let address, let name):
            ["neigh replace \(address) lladdr 02:00:00:00:00:99 dev \(name) nud reachable router"]
        case .forgetNeighbour(let address, let name): ["neigh del \(address) dev \(name)"]
        case .pass: []
        }
    }
}

extension Change.Family {
    fileprivate var option: String { self == .ipv4 ? "-4" : "-6" }
}

extension Change.LinkKind {
    fileprivate func commands(_ name: String, over lower: String) -> [String]? {
        switch self {
        case .cable, .pointToPoint, .rawIP, .tunnel: nil
        case .bridge: ["link add \(name) type bridge", "link set \(name) up"]
        case .macvlan: ["link add link \(lower) name \(name) type macvlan mode bridge", "link set \(name) up"]
        case .sink: ["link add \(name) type ifb", "link set \(name) up"]
        case .vxlan:
            [
                "link add \(name) type vxlan id 7 dev \(lower) remote 10.1.0.9 dstport 4789",
                "link set \(name) up",
            ]
        }
    }
}
