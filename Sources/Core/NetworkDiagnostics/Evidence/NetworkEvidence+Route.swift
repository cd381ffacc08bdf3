import LinuxSupport
import Netlink
public import NetworkReachability

extension NetworkEvidence {
    /// A route as it stands in its table, `ip-route(8)`.
    public struct Route: Hashable, Sendable {
        /// One next hop of it.
        public struct NextHop: Hashable, Sendable {
            /// The name of the interface; nil when it has just gone.
            public var interface: String?

            /// The router; nil when the destination is on the link itself.
            public var gateway: IPAddress?
        }

        /// What happens to packets: `unicast`, `local`, `broadcast`, `multicast` or `anycast`; `prohibit`, `blackhole` or
        /// `unreachable` of one that refuses.
        public var type: String

        /// The destinations it covers, with the length in bits: `0.0.0.0/0` is the default route of IPv4. Nil where the kernel
        /// says the next hop but no entry, as for an interface that was asked for by name.
        public var prefix: String?

        /// The table it is in: 254 is `main`, 255 `local`; nil where the kernel does not say. For addresses of this machine
        /// Linux says 254 until a policy rule has been added for the first time, then 255.
        public var table: UInt32?

        /// The lower, the better, among routes of the same prefix.
        public var metric: UInt32

        /// The next hop object it uses (`ip-nexthop(8)`); nil for none.
        public var nextHopObject: UInt32?

        /// Every next hop, also those that carry no packets now.
        public var nextHops: [NextHop]

        /// How long it will last (IPv6 router advertisements); nil for ever.
        public var lifetime: Duration?
    }
}

extension NetworkEvidence.Route: CustomStringConvertible {
    /// As `ip route` has it: `default via 192.0.2.1 dev eth0 table main metric 100`.
    public var description: String {
        var words = type == "unicast" ? [] : [type]
        words.append(prefix.map { $0.hasSuffix("/0") ? "default" : $0 } ?? "on the link")
        if nextHops.count == 1 {
            words += nextHops[0].words
        } else if nextHops.count > 1 {
            words.append("over one of \(nextHops.count) next hops")
        }
        // What Linux says of local ones depends on history.
        if let table, type != "local" { words.append("table \(NetworkEvidence.name(ofTable: table))") }
        if metric != 0 { words.append("metric \(metric)") }
        return words.joined(separator: " ")
    }
}

extension NetworkEvidence.Route.NextHop {
    fileprivate var words: [String] {
        (gateway.map { ["via \($0)"] } ?? []) + (interface.map { ["dev \($0)"] } ?? [])
    }
}

extension RouteKind {
    /// As `ip route` has it.
    var word: String {
        switch self {
        case .unicast: "unicast"
        case .local: "local"
        case .broadcast: "broadcast"
        case .anycast: "anycast"
        case .multicast: "multicast"
        case .blackhole: "blackhole"
        case .unreachable: "unreachable"
        case .prohibit: "prohibit"
        case .throwing: "throw"
        default: "type \(rawValue)"
        }
    }
}
