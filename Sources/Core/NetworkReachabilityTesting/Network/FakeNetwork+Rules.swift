import LinuxPrimitives
import Netlink

extension FakeNetwork {
    /// - Parameter priority: nil for one before the second rule of the family, as the kernel chooses.
    mutating func addRule(_ rule: Rule, priority: UInt32?) throws(Refusal) {
        var rule = rule
        let family = rules.filter { $0.family == rule.family }
        rule.priority = priority ?? (family.count > 1 ? max(family[1].priority, 1) - 1 : 0)
        guard !rules.contains(rule) else { throw Refusal("there is such a rule already") }
        if rule.family == .ipv4 { hasHadRules = true }
        let position = rules.firstIndex { $0.family == rule.family && $0.priority > rule.priority }
        rules.insert(rule, at: position ?? rules.endIndex)
        hear([.rule, .addition])
    }

    /// Removes the first rule of this family that fits.
    mutating func removeRule(_ family: AddressFamily, where fits: (Rule) -> Bool) throws(Refusal) {
        guard let position = rules.firstIndex(where: { $0.family == family && fits($0) }) else {
            throw Refusal("there is no such rule")
        }
        rules.remove(at: position)
        hear([.rule, .removal])
    }

    mutating func setIgnoresLinkdown(_ ignores: Bool, _ family: AddressFamily) {
        guard ignoresLinkdown.contains(family) != ignores else { return }
        if ignores { ignoresLinkdown.insert(family) } else { ignoresLinkdown.remove(family) }
        // IPv4 sends one message for all devices, IPv6 one for each and one for all.
        hear(.configuration, count: family == .ipv4 ? 1 : devices.count + 1)
    }
}
