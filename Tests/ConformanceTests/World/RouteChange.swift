/// A route, as far as the tests need them.
struct RouteChange: Sendable {
    enum Kind: String, Sendable {
        case unicast
        case local
        case blackhole
        case unreachable
        case prohibit
        case throwing = "throw"
    }

    struct Hop: Sendable {
        let gateway: String
        let link: String
    }

    var destination: String
    var gateway: String?
    var link: String?
    var metric: UInt32?
    var table: UInt32 = 254
    var kind = Kind.unicast
    var hops: [Hop] = []
    var nextHop: UInt32?
    /// In whole seconds, IPv6 only.
    var lifetime: Int?

    init(
        _ destination: String,
        via gateway: String? = nil,
        on link: String? = nil,
        metric: UInt32? = nil,
        table: UInt32 = 254,
        _ kind: Kind = .unicast
    ) {
        self.destination = destination
        self.gateway = gateway
        self.link = link
        self.metric = metric
        self.table = table
        self.kind = kind
    }

    /// A route with several hops: router and link of each.
    init(_ destination: String, hops: [(String, String)]) {
        self.destination = destination
        self.hops = hops.map { Hop(gateway: $0.0, link: $0.1) }
    }

    init(_ destination: String, nextHop: UInt32) {
        self.destination = destination
        self.nextHop = nextHop
    }

    func expiring(after seconds: Int) -> RouteChange {
        var route = self
        route.lifetime = seconds
        return route
    }
}
