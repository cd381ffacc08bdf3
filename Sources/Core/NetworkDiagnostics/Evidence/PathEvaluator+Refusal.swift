import LinuxSupport
import Netlink
import NetworkReachability

/// The search for the reason why no route carries the packets.
extension PathEvaluator {
    /// Finds the rule or route that rejects the packets, or the route that the lookup ignores.
    ///
    /// - Parameters:
    ///   - error: The error of the lookup.
    ///   - walk: The policy rules that the packet meets.
    mutating func gatherRefusal(
        _ error: SystemError,
        _ walk: RuleWalk,
        into facts: inout EvidenceFacts
    ) throws(MissingAnswers) {
        facts.refusal = error
        facts.mayBeKillSwitch = try mayBeKillSwitch(walk.rules)
        let covering = try answers.answer(to: .routesCovering(walk.query.destination)).tableRoutes
            .sorted { ($0.prefix.length, $1.route.metric) > ($1.prefix.length, $0.route.metric) }
        if let kind = RouteKind(refusingWith: error) {
            for rule in walk.asked {
                guard let found = covering.first(where: { $0.route.table == rule.table && $0.route.kind == kind })
                else {
                    continue
                }
                facts.rule = NetworkEvidence.Rule(rule)
                facts.route = try description(of: found)
                facts.isRouteRefusing = true
                return
            }
        }
        facts.rule = walk.rule(refusingWith: error).map { NetworkEvidence.Rule($0) }
        facts.ruleRefused = facts.rule != nil
        guard error == .networkUnreachable, !facts.ruleRefused else { return }
        facts.unusedRoute = try unusedRoute(covering, walk)
        if facts.unusedRoute == nil, walk.query.destination.family == .ipv6 { facts.ipv6Obstacle = try ipv6Obstacle() }
    }

    /// Returns the best route that covers the destination and is not used.
    private mutating func unusedRoute(
        _ covering: [TableRoute],
        _ walk: RuleWalk
    ) throws(MissingAnswers) -> NetworkEvidence.PassedOver? {
        let asked = walk.asked
        for found in covering {
            let rule = asked.first { $0.table == found.route.table }
            var ruleForOthers: RoutingRule?
            let cause: NetworkEvidence.PassedOver.Cause
            if found.route.kind == .throwing, rule != nil {
                cause = .thrown
            } else if found.route.kind != .unicast {
                continue
            } else if found.route.lifetime == .zero {
                cause = .expired
            } else if let rule, let limit = rule.suppressedLength, found.prefix.length <= limit {
                cause = .suppressed
            } else if rule == nil, let table = found.route.table, !walk.rules.contains(where: \.asksVRF) {
                ruleForOthers = walk.rules.first { $0.action == .lookUp && $0.table == table }
                cause = .notAsked
            } else {
                continue
            }
            return NetworkEvidence.PassedOver(
                route: try description(of: found),
                cause: cause,
                rule: rule.map { NetworkEvidence.Rule($0) },
                ruleForOthers: ruleForOthers.map { NetworkEvidence.Rule($0) }
            )
        }
        return nil
    }

    /// Returns the description of a route, as it is in its table.
    private mutating func description(of found: TableRoute) throws(MissingAnswers) -> NetworkEvidence.Route {
        var route = found.route
        // One next hop is sufficient to recognize the route. One that rejects packets has none.
        route.nextHops = route.kind == .unicast ? Array(route.nextHops.prefix(1)) : []
        return try description(of: route, route, found.prefix)
    }

    /// Returns whether the rejection may be the kill switch of a VPN. VPNs reject packets by mark, suppress default
    /// routes (`wg-quick(8)`), or have a tunnel.
    private mutating func mayBeKillSwitch(_ rules: [RoutingRule]) throws(MissingAnswers) -> Bool {
        if rules.contains(where: { $0.markMask != 0 || $0.suppressedLength != nil }) { return true }
        for link in try answers.links() {
            if try cache.interfaces.entry(for: link, &answers).interface.type == .tunnel { return true }
        }
        return false
    }

    /// Returns the obstacle for IPv6 on the first affected link that is up.
    private mutating func ipv6Obstacle() throws(MissingAnswers) -> EvidenceFacts.IPv6Obstacle? {
        for link in try answers.links() where link.isUp && !link.isLoopback {
            if let trouble = try ipv6Obstacle(of: link) { return trouble }
        }
        return nil
    }

    /// Returns the obstacle for IPv6 on a link; nil if there is no obstacle.
    mutating func ipv6Obstacle(of link: Link) throws(MissingAnswers) -> EvidenceFacts.IPv6Obstacle? {
        // Below this MTU the kernel disables IPv6 (RFC 8200, section 5).
        if link.mtu < 1280 { return .smallMTU(link.name, link.mtu) }
        if try answers.answer(to: .isIPv6Disabled(link: link.index)).isIPv6Disabled == true {
            return .disabled(link.name)
        }
        let failed = try answers.addresses().first {
            $0.interface == link.index && $0.address.family == .ipv6 && $0.flags.contains(.detectionFailed)
        }
        return failed.map { .duplicate(link.name, "\($0)") }
    }
}

extension RouteKind {
    /// Creates the type of route for which a lookup fails with this error; nil if no route type causes it.
    fileprivate init?(refusingWith error: SystemError) {
        switch error {
        case .accessDenied: self = .prohibit
        case .invalidArgument: self = .blackhole
        case .hostUnreachable: self = .unreachable
        default: return nil
        }
    }
}

/// The evaluation of the policy rules for one packet, which shows the rule that led to an answer. Pure.
///
/// C counterpart: `fib_rules_lookup`, `fib_rule_match`.
struct RuleWalk {
    /// The rules of the packet's family, in the order of their priority.
    let rules: [RoutingRule]
    /// The route query, with the source address that decided.
    let query: RouteQuery
    /// The name of the interface that the packet is bound to.
    let boundTo: String?
    /// The user ID of the packet's socket.
    let user: UInt32

    /// The matching rules, in the order in which they are tried if none of them ends the search.
    var tried: [RoutingRule] {
        var tried: [RoutingRule] = []
        var index = 0
        while index < rules.count {
            let rule = rules[index]
            index += 1
            guard fits(rule) else { continue }
            tried.append(rule)
            // The kernel only jumps forwards.
            guard rule.action == .goto, let target = rule.target else { continue }
            index = rules[index...].firstIndex { $0.priority == target } ?? index
        }
        return tried
    }

    private func fits(_ rule: RoutingRule) -> Bool {
        // Packets of this machine have the loopback device as their input interface.
        var fits = !rule.hasOtherSelectors && (rule.inputInterface ?? "lo") == "lo"
        if let source = rule.source { fits = fits && query.source.map(source.contains) ?? false }
        if let destination = rule.destination { fits = fits && destination.contains(query.destination) }
        if let interface = rule.outputInterface { fits = fits && interface == boundTo }
        if let users = rule.users { fits = fits && users.contains(user) }
        fits = fits && (rule.mark ^ query.mark) & rule.markMask == 0
        return fits != rule.isInverted
    }

    /// Returns the rule whose table contains the answer; nil if the kernel does not report the table.
    func rule(answering route: Route, _ entry: Route?) -> RoutingRule? {
        guard let table = route.table else { return nil }
        let asked = tried.prefix { !$0.action.isRefusal }.filter { rule in
            guard let limit = rule.suppressedLength, let entry else { return true }
            return Int(entry.prefixLength) > limit
        }
        // Both tables are merged until the first rule is added, and are reported as `main`.
        let isOwn = [.local, .broadcast, .anycast].contains(route.kind) && table == 254
        return (isOwn ? asked.first { $0.table == 255 } : nil)
            ?? asked.first { $0.action == .lookUp && $0.table == table } ?? asked.first(where: \.asksVRF)
    }

    /// Returns the rule that rejected the packet with this error; nil if a route did, or if no rule matches.
    func rule(refusingWith error: SystemError) -> RoutingRule? {
        guard let last = tried.first(where: \.action.isRefusal) else { return nil }
        let expected: RuleAction? =
            switch error {
            case .accessDenied: .prohibit
            case .invalidArgument: .blackhole
            case .networkUnreachable: .unreachable
            default: nil
            }
        return last.action == expected ? last : nil
    }

    /// The rules that look up a table, up to the first rule that rejects the packet.
    var asked: [RoutingRule] {
        tried.prefix { !$0.action.isRefusal }.filter { $0.action == .lookUp && $0.table != 0 }
    }

    /// The tables that are looked up, in their order.
    var tables: [UInt32] {
        var tables: [UInt32] = []
        for rule in asked {
            if !tables.contains(rule.table) { tables.append(rule.table) }
        }
        return tables
    }
}

extension RuleAction {
    fileprivate var isRefusal: Bool { [.blackhole, .unreachable, .prohibit].contains(self) }
}
