import LinuxSupport
import Netlink
import NetworkReachability

/// The walk of one packet through the policy rules, which says by what rule an answer came. Pure.
///
/// C counterpart: `fib_rules_lookup`, `fib_rule_match`.
struct RuleWalk {
    /// Those of the packet's family, in their order.
    let rules: [RoutingRule]
    /// As it was asked, with the source that decided.
    let query: RouteQuery
    /// The name of the interface it is bound to.
    let boundTo: String?
    /// Whose packet it is.
    let user: UInt32

    /// The rules that fit, in the order they would be tried if none of them said anything.
    var tried: [RoutingRule] {
        var tried: [RoutingRule] = []
        var index = 0
        while index < rules.count {
            let rule = rules[index]
            index += 1
            guard fits(rule) else { continue }
            tried.append(rule)
            // The kernel jumps forwards only.
            guard rule.action == .goto, let target = rule.target else { continue }
            index = rules[index...].firstIndex { $0.priority == target } ?? index
        }
        return tried
    }

    private func fits(_ rule: RoutingRule) -> Bool {
        // Packets of this machine come in by its loopback device.
        var fits = !rule.hasOtherSelectors && (rule.inputInterface ?? "lo") == "lo"
        if let source = rule.source { fits = fits && query.source.map(source.contains) ?? false }
        if let destination = rule.destination { fits = fits && destination.contains(query.destination) }
        if let interface = rule.outputInterface { fits = fits && interface == boundTo }
        if let users = rule.users { fits = fits && users.contains(user) }
        fits = fits && (rule.mark ^ query.mark) & rule.markMask == 0
        return fits != rule.isInverted
    }

    /// The rule whose table answered; nil where the kernel does not name the table.
    func rule(answering route: Route, _ entry: Route?) -> RoutingRule? {
        guard let table = route.table else { return nil }
        let asked = tried.prefix { !$0.action.isRefusal }.filter { rule in
            guard let limit = rule.suppressedLength, let entry else { return true }
            return Int(entry.prefixLength) > limit
        }
        // Both tables are one until the first rule is added, and it is called `main`.
        let isOwn = [.local, .broadcast, .anycast].contains(route.kind) && table == 254
        return (isOwn ? asked.first { $0.table == 255 } : nil)
            ?? asked.first { $0.action == .lookUp && $0.table == table } ?? asked.first(where: \.asksVRF)
    }

    /// The rule that refused with this error; nil where a route did, or nothing was found.
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

    /// The rules that ask a table, up to the first that refuses.
    var asked: [RoutingRule] {
        tried.prefix { !$0.action.isRefusal }.filter { $0.action == .lookUp && $0.table != 0 }
    }

    /// The tables that were asked, in their order.
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
