import LinuxSupport
import Netlink
public import NetworkReachability

extension NetworkEvidence {
    /// One link of the chain of evidence.
    public struct Step: Hashable, Sendable {
        /// The subject of a step. The raw value is the name in JSON output.
        public enum Kind: String, Hashable, Sendable, CaseIterable {
            /// The kernel itself; a step only where it cannot be asked.
            case kernel
            /// Where the name was looked up; a step only of a target that is a name.
            case resolver
            /// A name server, one step for each; none where the hosts file has the name.
            case server
            /// The name and its addresses; a step only of a target that is a name.
            case name
            /// The quorum of the addresses that stand for the network at large; a step only of that.
            case quorum = "vote"
            /// The address that decided.
            case address
            /// The policy rule (`ip-rule(8)`).
            case rule
            /// The route (`ip-route(8)`).
            case route
            /// The interface and what it runs over (`ip-link(8)`).
            case link
            /// The gateway or the destination as a neighbour (`ip-neighbour(8)`).
            case neighbour
            /// The source address packets get (`ip-address(8)`).
            case source
            /// The result.
            case verdict
        }

        /// How a step stands. The raw value is the name in JSON output.
        public enum State: String, Hashable, Sendable, CaseIterable {
            /// It holds.
            case ok
            /// The chain breaks here. At most one step before the verdict does; the verdict then does too.
            case broken
            /// The chain breaks before.
            case notReached
            /// Worth knowing, but it decides nothing.
            case informational
        }

        /// The subject.
        public var kind: Kind

        /// How it stands.
        public var state: State

        /// The finding in a few words for people. The text may change; programs read the other properties.
        public var summary: String

        /// The remedy in one sentence for people; nil unless the step is the first broken one.
        public var remedy: String?
    }
}

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

extension NetworkEvidence {
    /// A policy rule, `ip-rule(8)`.
    ///
    /// The kernel does not say which rule an answer came by. It is the first that fits the packet and asks the table of the
    /// answer or, for a refusal, the first that ends the search if it refuses in this way. Where a route in a table asked
    /// before refuses in the same way, the rule is named and not the route.
    public struct Rule: Hashable, Sendable {
        /// Its place: the lower, the earlier.
        public var priority: UInt32

        /// Which packets it is for, in the words of `ip rule`: `from all`, `not from all fwmark 0xca6c`.
        public var selector: String

        /// The action: `lookup`, `prohibit`, `unreachable` or `blackhole`.
        public var action: String

        /// The table that it asks: 254 is `main`, 255 `local`; nil when it asks none.
        public var table: UInt32?

        /// Routes of this prefix length or less are passed over (`suppress_prefixlength`): with 0 default routes. Nil for none.
        public var suppressedLength: Int?
    }

    /// A table's name where every system has it, else its number.
    static func name(ofTable table: UInt32) -> String {
        switch table {
        case 253: "default"
        case 254: "main"
        case 255: "local"
        default: "\(table)"
        }
    }
}

extension NetworkEvidence.Rule {
    init(_ rule: RoutingRule) {
        self.init(
            priority: rule.priority,
            selector: rule.selector,
            action: rule.action.word,
            table: rule.action == .lookUp && rule.table != 0 ? rule.table : nil,
            suppressedLength: rule.suppressedLength
        )
    }
}

extension NetworkEvidence.Rule: CustomStringConvertible {
    /// As `ip rule` has it: `32766: from all lookup main`.
    public var description: String {
        "\(priority): \(selector) \(action)" + (table.map { " " + NetworkEvidence.name(ofTable: $0) } ?? "")
            + (suppressedLength.map { " suppress_prefixlength \($0)" } ?? "")
    }
}

extension RoutingRule {
    fileprivate var selector: String {
        var words = [(isInverted ? "not " : "") + "from \(source.map(Self.text) ?? "all")"]
        if let destination { words.append("to \(Self.text(destination))") }
        if mark != 0 || markMask != 0 {
            let mask = markMask == .max ? "" : "/0x" + String(markMask, radix: 16)
            words.append("fwmark 0x\(String(mark, radix: 16))\(mask)")
        }
        if let inputInterface { words.append("iif \(inputInterface.shellWord)") }
        if let outputInterface { words.append("oif \(outputInterface.shellWord)") }
        if let users { words.append("uidrange \(users.lowerBound)-\(users.upperBound)") }
        return words.joined(separator: " ")
    }

    private static func text(_ prefix: AddressPrefix) -> String {
        prefix.length == prefix.family.bitCount ? "\(prefix.address)" : "\(prefix)"
    }
}

extension RuleAction {
    fileprivate var word: String {
        switch self {
        case .lookUp: "lookup"
        case .goto: "goto"
        case .nothing: "nop"
        case .blackhole: "blackhole"
        case .unreachable: "unreachable"
        case .prohibit: "prohibit"
        default: "action \(rawValue)"
        }
    }
}

extension NetworkEvidence {
    /// How the name was looked up: `nsswitch.conf(5)`, `resolv.conf(5)`.
    public struct Resolver: Hashable, Sendable {
        /// A server that is asked for names.
        public struct Server: Hashable, Sendable {
            /// Its address.
            public var address: IPAddress

            /// The interface that questions leave through, or the one that stands in the way; nil where none is known.
            public var interface: String?

            /// Why questions do not get there; nil when the kernel has a path.
            public var reason: NetworkPath.UnsatisfiedReason?

            /// What it said when it was asked to explain a name without addresses: the response code by its name (`NOERROR`,
            /// `NXDOMAIN`, `SERVFAIL`, `REFUSED` ..., RFC 6895), `truncated` where it wants to be asked over TCP, `silence`, `closed` for a port nobody listens on, or what the system
            /// said. Nil where it was not asked.
            public var answer: String?
        }

        /// Where names are looked up, in this order, by the words of `nsswitch.conf(5)`: `files`, `dns`, `resolve` ...
        public var sources: [String]

        /// Whether the hosts file contains the name. Then no server is queried.
        public var isInHostsFile: Bool

        /// The file that names the servers: `/etc/resolv.conf`, or systemd-resolved's own.
        public var file: String

        /// Where systemd-resolved listens, if programs ask it instead of the servers; nil where they ask them directly.
        public var stub: IPAddress?

        /// The servers in their order; empty where none is configured.
        public var servers: [Server]
    }
}

extension NetworkEvidence.Resolver {
    /// Whether servers are to be asked, and none is named: the C library asks this machine then (`resolv.conf(5)`).
    var namesNoServer: Bool {
        !isInHostsFile && servers.isEmpty && (sources.contains("dns") || sources.contains("resolve"))
    }

    /// The order, and what the hosts file says.
    var summary: String {
        let order = sources.joined(separator: ", ")
        var parts = ["\(order) (\(ResolverConfiguration.switchFile))"]
        if sources.contains("files") { parts.append(isInHostsFile ? "it is in /etc/hosts" : "it is not in /etc/hosts") }
        if isInHostsFile { return parts.joined(separator: "; ") }
        if let stub { parts.append("systemd-resolved at \(stub) asks the servers in \(file)") }
        if namesNoServer { parts.append("no server in \(file)" + (stub == nil ? ", so 127.0.0.1 is asked" : "")) }
        return parts.joined(separator: "; ")
    }
}

extension NetworkEvidence.Resolver.Server {
    /// Whether the answer is that the name does not exist or has no address.
    var deniesName: Bool { answer == "NXDOMAIN" || answer == "NOERROR" }
}

extension NetworkEvidence.Resolver.Server: CustomStringConvertible {
    /// For example `192.0.2.53 over eth0: no carrier`.
    public var description: String {
        let name = "\(address)" + (interface.map { " over \($0)" } ?? "")
        if let reason { return "\(name): \(reason)" }
        switch answer {
        case nil: return "\(name): there is a path"
        case "silence"?: return "\(name): there is a path, but no answer"
        case "truncated"?: return "\(name): its answer is cut off, it wants to be asked over TCP"
        case "NOERROR"?: return "\(name): answered NOERROR, the name has no IPv4 address"
        case "NXDOMAIN"?: return "\(name): answered NXDOMAIN, there is no such name"
        case "closed"?: return "\(name): nobody serves names there (port 53 is closed)"
        case let answer?: return "\(name): answered \(answer)"
        }
    }
}

extension NetworkEvidence {
    /// A route that would do, and why the kernel does not take it.
    public struct PassedOver: Hashable, Sendable {
        /// Why it is not taken.
        public enum Cause: String, Hashable, Sendable {
            /// A route of type throw ends the search in its table (`ip-route(8)`).
            case thrown = "throw"
            /// It has expired, and waits to be cleaned up (RFC 4861).
            case expired
            /// The rule passes over routes of its length (`suppress_prefixlength`, `ip-rule(8)`).
            case suppressed
            /// No rule asks its table, or only one that is for other packets.
            case notAsked
        }

        /// The route.
        public var route: Route

        /// Why it is not taken.
        public var cause: Cause

        /// The rule that asks its table for packets like these; nil for none.
        public var rule: Rule?

        /// The rule that asks its table for other packets; nil for none.
        public var ruleForOthers: Rule?
    }
}

extension NetworkEvidence.PassedOver {
    /// In a few words.
    var summary: String {
        let rule = rule.map { "rule \($0.priority)" } ?? "a rule"
        switch cause {
        case .thrown: return "\(route) (\(rule)) sends on to later rules, which have none"
        case .expired: return "\(route) has expired"
        case .suppressed: return "\(rule) passes over \(route) (suppress_prefixlength)"
        case .notAsked:
            guard let ruleForOthers else { return "no rule asks the table of \(route)" }
            return "\(route) is for other packets only (rule \(ruleForOthers))"
        }
    }

    /// What would let the kernel take it.
    func remedy(_ option: String) -> String {
        let table = route.table.map { " table \(NetworkEvidence.name(ofTable: $0))" } ?? ""
        let prefix = route.commandPrefix
        switch cause {
        case .thrown:
            return
                "delete it with `ip \(option)route del throw \(prefix)\(table)`, or add a route to a table that is asked"
                + " later"
        case .expired:
            let via = route.nextHops.first?.gateway.map { " via \($0)" } ?? ""
            let device = route.nextHops.first?.interface.map { " dev \($0.shellWord)" } ?? ""
            return "find out why the router advertises no more, or make it last with"
                + " `ip \(option)route replace \(prefix)\(via)\(device)\(table)\(route.commandMetric)`"
        case .suppressed:
            return "add a rule that asks table \(route.table ?? 0) without suppress_prefixlength:"
                + " `ip \(option)rule add lookup \(route.table ?? 0)`"
        case .notAsked where ruleForOthers == nil:
            return "let a rule ask the table: `ip \(option)rule add lookup \(route.table ?? 0)`"
        case .notAsked:
            return "add a route to table main, or let the rule be for these packets too (`--mark` asks as marked ones)"
        }
    }
}
