import Netlink

extension FakeKernel {
    /// Adds a policy rule.
    ///
    /// - Parameters:
    ///   - family: whose packets it is about.
    ///   - priority: the lower, the earlier; nil for one just before the second rule, as `ip rule` has it.
    ///   - source: only packets from this prefix; packets that have no source yet do not match.
    ///   - destination: only packets to this prefix.
    ///   - mark: only packets with this firewall mark.
    ///   - inverted: packets match that would not otherwise.
    ///   - action: what happens to them.
    ///   - suppressedLength: results with this prefix length or less are passed over; 0 passes default routes over.
    public func addRule(
        _ family: Family = .ipv4,
        priority: UInt32? = nil,
        from source: String? = nil,
        to destination: String? = nil,
        mark: UInt32? = nil,
        inverted: Bool = false,
        _ action: RuleAction,
        suppressingPrefixLength suppressedLength: Int? = nil
    ) {
        change { network throws(Refusal) in
            var rule = FakeNetwork.Rule(family: family.addressFamily, priority: 0, action: action.action)
            rule.source = try FakeKernel.prefix(source, family)
            rule.destination = try FakeKernel.prefix(destination, family)
            rule.mark = mark
            rule.isInverted = inverted
            rule.suppressedLength = suppressedLength
            try network.addRule(rule, priority: priority)
        }
    }

    /// Removes the first rule of this priority.
    public func removeRule(_ family: Family = .ipv4, priority: UInt32) {
        change { network throws(Refusal) in
            try network.removeRule(family.addressFamily) { $0.priority == priority }
        }
    }

    /// Sets `ignore_routes_with_linkdown` for all links: routes through links without a carrier are then passed over.
    public func ignoreRoutesWithLinkdown(_ family: Family = .ipv4, _ ignores: Bool = true) {
        change { $0.setIgnoresLinkdown(ignores, family.addressFamily) }
    }

    private static func prefix(_ text: String?, _ family: Family) throws(Refusal) -> Prefix? {
        guard let text else { return nil }
        let prefix = try Prefix(parsing: text, family: family.addressFamily).network
        guard prefix.family == family.addressFamily else { throw Refusal("\(text) is not of the rule's family") }
        return prefix
    }
}
