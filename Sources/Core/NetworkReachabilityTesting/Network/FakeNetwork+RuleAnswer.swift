import LinuxPrimitives
import Netlink

extension FakeNetwork.Rule {
    /// What the kernel tells of it.
    var answer: RoutingRule {
        var rule = RoutingRule(priority: priority)
        switch action {
        case .lookUp(let table): rule.table = table
        case .fail(.accessDenied): rule.action = .prohibit
        case .fail(.invalidArgument): rule.action = .blackhole
        case .fail: rule.action = .unreachable
        }
        rule.source = source.map { AddressPrefix($0.address, length: $0.length) }
        rule.destination = destination.map { AddressPrefix($0.address, length: $0.length) }
        rule.mark = mark ?? 0
        rule.markMask = mark == nil ? 0 : .max
        rule.isInverted = isInverted
        rule.suppressedLength = suppressedLength
        return rule
    }
}
