import LinuxSupport
import Netlink
public import NetworkReachability

extension NetworkEvidence {
    /// One step of the chain of evidence.
    public struct Step: Hashable, Sendable {
        /// The subject of a step. The raw value is the name in JSON output.
        public enum Kind: String, Hashable, Sendable, CaseIterable {
            /// The kernel. A step only if the kernel cannot be queried.
            case kernel
            /// The configuration of name resolution. A step only for a target that is a name.
            case resolver
            /// A name server, with one step per server. No step if the hosts file contains the name.
            case server
            /// The name and its addresses. A step only for a target that is a name.
            case name
            /// The quorum of the addresses for general reachability. A step only for that target.
            case quorum = "vote"
            /// The address that determines the result.
            case address
            /// The policy rule (`ip-rule(8)`).
            case rule
            /// The route (`ip-route(8)`).
            case route
            /// The interface and its lower interfaces (`ip-link(8)`).
            case link
            /// The gateway or the destination as a neighbour (`ip-neighbour(8)`).
            case neighbour
            /// The source address of the packets (`ip-address(8)`).
            case source
            /// The result.
            case verdict
        }

        /// The state of a step. The raw value is the name in JSON output.
        public enum State: String, Hashable, Sendable, CaseIterable {
            /// The step has no error.
            case ok
            /// The step is the cause of the failure. At most one step before the verdict is broken. The verdict is then
            /// broken too.
            case broken
            /// The step follows a broken step and was not evaluated.
            case notReached
            /// The step provides information but does not influence the verdict.
            case informational
        }

        /// The subject of the step.
        public var kind: Kind

        /// The state of the step.
        public var state: State

        /// The finding in a short text for people. The text may change in later versions. Programs use the other
        /// properties.
        public var summary: String

        /// The remedy in one sentence for people. Nil unless the step is the first broken one.
        public var remedy: String?
    }
}

extension NetworkEvidence {
    /// A route as stored in its table (`ip-route(8)`).
    public struct Route: Hashable, Sendable {
        /// A next hop of a route.
        public struct NextHop: Hashable, Sendable {
            /// The name of the interface; nil if the interface was just removed.
            public var interface: String?

            /// The router; nil if the destination is on the link.
            public var gateway: IPAddress?
        }

        /// The type of the route: `unicast`, `local`, `broadcast`, `multicast` or `anycast`, or `prohibit`, `blackhole`
        /// or `unreachable` for a route that rejects packets.
        public var type: String

        /// The destination prefix, for example `0.0.0.0/0` for the IPv4 default route. Nil if the kernel reports a next
        /// hop but no entry, as for packets bound to an interface without a matching route.
        public var prefix: String?

        /// The routing table: 254 is `main`, 255 is `local`. Nil if the kernel does not report it. For addresses of
        /// this machine Linux reports 254 until the first policy rule is added, and 255 afterwards.
        public var table: UInt32?

        /// The metric. Among routes with the same prefix, the one with the lowest metric is preferred.
        public var metric: UInt32

        /// The ID of the next hop object that the route uses (`ip-nexthop(8)`); nil if it uses none.
        public var nextHopObject: UInt32?

        /// All next hops, including those that carry no packets now.
        public var nextHops: [NextHop]

        /// The remaining lifetime (IPv6 router advertisements); nil if the route does not expire.
        public var lifetime: Duration?
    }
}

extension NetworkEvidence.Route: CustomStringConvertible {
    /// The route in the format of `ip route`, for example `default via 192.0.2.1 dev eth0 table main metric 100`.
    public var description: String {
        var words = type == "unicast" ? [] : [type]
        words.append(prefix.map { $0.hasSuffix("/0") ? "default" : $0 } ?? "on the link")
        if nextHops.count == 1 {
            words += nextHops[0].words
        } else if nextHops.count > 1 {
            words.append("over one of \(nextHops.count) next hops")
        }
        // The table that Linux reports for local routes depends on earlier changes of the rules.
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
    /// The name of the type in `ip route`.
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
    /// A policy rule (`ip-rule(8)`).
    ///
    /// The kernel does not report the rule of an answer, so the rule is derived. For a route, it is the first rule that
    /// matches the packet and looks up the table of the answer. For a rejection, it is the first matching rule that
    /// ends the search with this error. If a route in a table that was looked up before rejects packets with the same
    /// error, the rule is reported instead of the route.
    public struct Rule: Hashable, Sendable {
        /// The priority. Rules with a lower number are evaluated first.
        public var priority: UInt32

        /// The selector in the format of `ip rule`, for example `from all` or `not from all fwmark 0xca6c`.
        public var selector: String

        /// The action: `lookup`, `prohibit`, `unreachable` or `blackhole`.
        public var action: String

        /// The table that the rule looks up: 254 is `main`, 255 is `local`. Nil if the rule looks up no table.
        public var table: UInt32?

        /// The prefix length up to which routes are ignored (`suppress_prefixlength`). 0 ignores default routes. Nil if
        /// the rule ignores no routes.
        public var suppressedLength: Int?
    }

    /// Returns the name of a table that has a name on every system, otherwise its number.
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
    /// The rule in the format of `ip rule`, for example `32766: from all lookup main`.
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
    /// The resolution of the name (`nsswitch.conf(5)`, `resolv.conf(5)`).
    public struct Resolver: Hashable, Sendable {
        /// A configured name server.
        public struct Server: Hashable, Sendable {
            /// The address of the server.
            public var address: IPAddress

            /// The interface that DNS queries leave through, or the interface that blocks them. Nil if it is not known.
            public var interface: String?

            /// The reason why the server is not reachable; nil if the kernel has a path to it.
            public var reason: NetworkPath.UnsatisfiedReason?

            /// The answer of the server to a query for a name without addresses. Nil if the server was not queried.
            ///
            /// | Value | Meaning |
            /// |---|---|
            /// | `NOERROR`, `NXDOMAIN`, `SERVFAIL`, `REFUSED` ... | The name of the response code (RFC 6895). |
            /// | `truncated` | The answer is truncated and requires TCP. |
            /// | `silence` | The server did not answer within the timeout. |
            /// | `closed` | The port of the server is closed. |
            /// | any other text | The error of the system. |
            public var answer: String?
        }

        /// The sources of names in the order of use, with their names in `nsswitch.conf(5)`, for example `files`,
        /// `dns`, `resolve`.
        public var sources: [String]

        /// A Boolean value that indicates whether the hosts file contains the name. Then no server is queried.
        public var isInHostsFile: Bool

        /// The file that lists the servers: `/etc/resolv.conf`, or the file of systemd-resolved.
        public var file: String

        /// The address of systemd-resolved if programs query it instead of the servers; nil if they query the servers
        /// directly.
        public var stub: IPAddress?

        /// The servers in the order of use; empty if none is configured.
        public var servers: [Server]
    }
}

extension NetworkEvidence.Resolver {
    /// A Boolean value that indicates whether servers are to be queried but none is configured. The C library then
    /// queries this machine (`resolv.conf(5)`).
    var namesNoServer: Bool {
        !isInHostsFile && servers.isEmpty && (sources.contains("dns") || sources.contains("resolve"))
    }

    /// The sources in their order, and the result for the hosts file.
    var summary: String {
        let order = sources.joined(separator: ", ")
        var parts = ["\(order) (\(ResolverConfiguration.switchFile))"]
        if sources.contains("files") { parts.append(isInHostsFile ? "found in /etc/hosts" : "not found in /etc/hosts") }
        if isInHostsFile { return parts.joined(separator: "; ") }
        if let stub { parts.append("systemd-resolved at \(stub) queries the servers in \(file)") }
        if namesNoServer { parts.append("no server in \(file)" + (stub == nil ? ", so 127.0.0.1 is queried" : "")) }
        return parts.joined(separator: "; ")
    }
}

extension NetworkEvidence.Resolver.Server {
    /// A Boolean value that indicates whether the answer is that the name does not exist or has no address.
    var deniesName: Bool { answer == "NXDOMAIN" || answer == "NOERROR" }
}

extension NetworkEvidence.Resolver.Server: CustomStringConvertible {
    /// The server and its state, for example `192.0.2.53 over eth0: no carrier`.
    public var description: String {
        let name = "\(address)" + (interface.map { " over \($0)" } ?? "")
        if let reason { return "\(name): \(reason)" }
        switch answer {
        case nil: return "\(name): there is a path"
        case "silence"?: return "\(name): there is a path, but no answer"
        case "truncated"?: return "\(name): its answer is truncated and requires TCP"
        case "NOERROR"?: return "\(name): answered NOERROR, the name has no IPv4 address"
        case "NXDOMAIN"?: return "\(name): answered NXDOMAIN, the name does not exist"
        case "closed"?: return "\(name): no name server is running there (port 53 is closed)"
        case let answer?: return "\(name): answered \(answer)"
        }
    }
}

extension NetworkEvidence {
    /// A usable route that the kernel does not select, with the reason.
    public struct PassedOver: Hashable, Sendable {
        /// The reason why a route is not selected.
        public enum Cause: String, Hashable, Sendable {
            /// A route of type `throw` ends the search in its table (`ip-route(8)`).
            case thrown = "throw"
            /// The route has expired and has not been removed yet (RFC 4861).
            case expired
            /// The rule ignores routes of this prefix length (`suppress_prefixlength`, `ip-rule(8)`).
            case suppressed
            /// No rule for these packets looks up the table.
            case notAsked
        }

        /// The route.
        public var route: Route

        /// The reason why the route is not selected.
        public var cause: Cause

        /// The rule for these packets that looks up the route's table; nil if there is no such rule.
        public var rule: Rule?

        /// The rule for other packets that looks up the route's table; nil if there is no such rule.
        public var ruleForOthers: Rule?
    }
}

extension NetworkEvidence.PassedOver {
    /// A short text.
    var summary: String {
        let rule = rule.map { "rule \($0.priority)" } ?? "a rule"
        switch cause {
        case .thrown: return "\(route) (\(rule)) continues with later rules, which have no route"
        case .expired: return "\(route) has expired"
        case .suppressed: return "\(rule) ignores \(route) (suppress_prefixlength)"
        case .notAsked:
            guard let ruleForOthers else { return "no rule looks up the table of \(route)" }
            return "\(route) applies only to other packets (rule \(ruleForOthers))"
        }
    }

    /// Returns the change that makes the kernel select the route.
    func remedy(_ option: String) -> String {
        let table = route.table.map { " table \(NetworkEvidence.name(ofTable: $0))" } ?? ""
        let prefix = route.commandPrefix
        switch cause {
        case .thrown:
            return
                "delete it with `ip \(option)route del throw \(prefix)\(table)`, or add a route to the table of a later"
                + " rule"
        case .expired:
            let via = route.nextHops.first?.gateway.map { " via \($0)" } ?? ""
            let device = route.nextHops.first?.interface.map { " dev \($0.shellWord)" } ?? ""
            return "find out why the router no longer advertises it, or make it permanent with"
                + " `ip \(option)route replace \(prefix)\(via)\(device)\(table)\(route.commandMetric)`"
        case .suppressed:
            return "add a rule that looks up table \(route.table ?? 0) without suppress_prefixlength:"
                + " `ip \(option)rule add lookup \(route.table ?? 0)`"
        case .notAsked where ruleForOthers == nil:
            return "add a rule that looks up the table: `ip \(option)rule add lookup \(route.table ?? 0)`"
        case .notAsked:
            return "add a route to table main, or make the rule match these packets (`--mark` explains marked ones)"
        }
    }
}
