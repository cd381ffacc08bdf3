import LinuxSupport
import Netlink
import NetworkReachability

/// Why no table has a route that carries the packets.
extension Judge {
    /// Looks for the route that refuses, or for what a lookup passes over.
    ///
    /// - Parameters:
    ///   - error: what the lookup failed with.
    ///   - walk: the rules the packet meets.
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
        facts.passedOver = try passedOver(covering, walk)
        if facts.passedOver == nil, walk.query.destination.family == .ipv6 { facts.ipv6Trouble = try ipv6Trouble() }
    }

    /// The best of the routes that cover the destination and are not taken.
    private mutating func passedOver(
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

    /// As it stands in its table.
    private mutating func description(of found: TableRoute) throws(MissingAnswers) -> NetworkEvidence.Route {
        var hops: [NetworkEvidence.Route.NextHop] = []
        if found.route.kind == .unicast, let hop = found.route.nextHop {
            let name = try answers.link(hop.interface)?.name
            hops.append(.init(interface: name, gateway: hop.gateway.map { IPAddress($0) }))
        }
        return NetworkEvidence.Route(
            type: found.route.kind.word,
            prefix: "\(found.prefix)",
            table: found.route.table,
            metric: found.route.metric,
            nextHopObject: found.route.nextHopID == 0 ? nil : found.route.nextHopID,
            nextHops: hops,
            lifetime: found.route.lifetime
        )
    }

    /// Those of VPNs refuse by mark, or pass default routes over (wg-quick(8)), or stand beside a tunnel.
    private mutating func mayBeKillSwitch(_ rules: [RoutingRule]) throws(MissingAnswers) -> Bool {
        if rules.contains(where: { $0.markMask != 0 || $0.suppressedLength != nil }) { return true }
        for link in try answers.links() {
            if try memory.interfaces.entry(for: link, &answers).interface.type == .tunnel { return true }
        }
        return false
    }

    /// What keeps IPv6 off the links that are up.
    private mutating func ipv6Trouble() throws(MissingAnswers) -> EvidenceFacts.IPv6Trouble? {
        for link in try answers.links() where link.isUp && !link.isLoopback {
            if let trouble = try ipv6Trouble(of: link) { return trouble }
        }
        return nil
    }

    /// What keeps IPv6 off a link.
    mutating func ipv6Trouble(of link: Link) throws(MissingAnswers) -> EvidenceFacts.IPv6Trouble? {
        // Below this the kernel lets go of IPv6 (RFC 8200, section 5).
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
    /// The kind of route a lookup fails with this error for; nil where it is not a route.
    fileprivate init?(refusingWith error: SystemError) {
        switch error {
        case .accessDenied: self = .prohibit
        case .invalidArgument: self = .blackhole
        case .hostUnreachable: self = .unreachable
        default: return nil
        }
    }
}
