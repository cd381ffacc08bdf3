import LinuxSupport
import Netlink

extension FakeNetwork {
    /// A rule that selects a table for packets.
    struct Rule: Hashable, Sendable {
        /// The action for matching packets.
        enum Action: Hashable, Sendable {
            case lookUp(UInt32)
            case fail(SystemError)
        }

        var family: AddressFamily
        /// The priority; lower numbers are applied first.
        var priority: UInt32
        var source: Prefix?
        var destination: Prefix?
        /// The mark of matching packets; nil matches every mark.
        var mark: UInt32?
        /// Whether the match is inverted (FIB_RULE_INVERT).
        var isInverted = false
        var action: Action
        /// The prefix length up to which routes are ignored.
        var suppressedLength: Int?

        func matches(_ query: RouteQuery) -> Bool {
            var matches = true
            if let source { matches = matches && query.source.map(source.covers) ?? false }
            if let destination { matches = matches && destination.covers(query.destination) }
            if let mark { matches = matches && mark == query.mark }
            return matches != isInverted
        }

        /// Returns the default rules of the kernel.
        static func standard(_ family: AddressFamily) -> [Rule] {
            let tables: [(UInt32, UInt32)] = [
                (0, RoutingTable.local), (32766, RoutingTable.main), (32767, RoutingTable.default),
            ]
            return tables.prefix(family == .ipv4 ? 3 : 2).map { priority, table in
                Rule(family: family, priority: priority, action: .lookUp(table))
            }
        }
    }
}

extension FakeNetwork {
    /// - Parameter priority: The priority. If nil, the rule precedes the second rule of the family, as in the kernel.
    mutating func addRule(_ rule: Rule, priority: UInt32?) throws(Refusal) {
        var rule = rule
        let family = rules.filter { $0.family == rule.family }
        rule.priority = priority ?? (family.count > 1 ? max(family[1].priority, 1) - 1 : 0)
        guard !rules.contains(rule) else { throw Refusal("there is such a rule already") }
        if rule.family == .ipv4 { hasHadRules = true }
        let position = rules.firstIndex { $0.family == rule.family && $0.priority > rule.priority }
        rules.insert(rule, at: position ?? rules.endIndex)
        announce([.rule, .addition])
    }

    /// Removes the first matching rule of a family.
    mutating func removeRule(_ family: AddressFamily, where fits: (Rule) -> Bool) throws(Refusal) {
        guard let position = rules.firstIndex(where: { $0.family == family && fits($0) }) else {
            throw Refusal("there is no such rule")
        }
        rules.remove(at: position)
        announce([.rule, .removal])
    }

    mutating func setIgnoresLinkdown(_ ignores: Bool, _ family: AddressFamily) {
        guard ignoresLinkdown.contains(family) != ignores else { return }
        if ignores { ignoresLinkdown.insert(family) } else { ignoresLinkdown.remove(family) }
        // IPv4 sends one message for all devices. IPv6 sends one for each device and one for all.
        announce(.configuration, count: family == .ipv4 ? 1 : devices.count + 1)
    }
}

extension FakeNetwork {
    /// Adds a next hop object, or replaces another one.
    mutating func setObject(_ id: UInt32, _ object: Object, replacing: Bool) throws(Refusal) {
        guard id > 0 else { throw Refusal("0 is no id of a next hop object") }
        guard replacing || objects[id] == nil else { throw Refusal("there is a next hop object \(id) already") }
        for member in object.members where objects[member] == nil {
            throw Refusal("there is no next hop object \(member) to make a group of")
        }
        if let hop = object.hop { try checkHop(hop, family: hop.gateway?.family ?? .ipv4, table: RoutingTable.main) }
        objects[id] = object
        announce([.nextHop, .addition])
        guard replacing else { return }
        let groups = objects.filter { $0.value.members.contains(id) }.keys
        for entry in entries where entry.object == id || groups.contains(entry.object) { announce(entry) }
    }

    mutating func removeObject(_ id: UInt32) throws(Refusal) {
        guard objects[id] != nil else { throw Refusal("there is no next hop object \(id)") }
        remove(id, isAnnounced: true)
    }

    /// Removes the next hop objects of a device that went down or lost its carrier, without a message.
    mutating func dropObjects(on index: UInt32) {
        for id in objects.filter({ $0.value.hop?.interface == index }).keys.sorted() { remove(id, isAnnounced: false) }
    }

    /// Removes a next hop object with its routes. IPv4 routes are removed without a message, IPv6 routes with one
    /// each.
    private mutating func remove(_ id: UInt32, isAnnounced: Bool) {
        objects[id] = nil
        if isAnnounced { announce([.nextHop, .removal]) }
        removeLoudly { $0.family == .ipv6 && $0.object == id }
        entries.removeAll { $0.object == id }
        for group in objects.filter({ $0.value.members.contains(id) }).keys.sorted() {
            objects[group]?.members.removeAll { $0 == id }
            if objects[group]?.members.isEmpty == true {
                remove(group, isAnnounced: isAnnounced)
            } else if isAnnounced {
                announce([.nextHop, .addition])
            }
        }
    }
}

/// The effects of device changes on routes.
extension FakeNetwork {
    /// Returns the hops of an entry, including those of its next hop object.
    func hops(of entry: Entry) -> [Hop] {
        guard entry.object != 0, let object = objects[entry.object] else { return entry.hops }
        if let hop = object.hop { return [hop] }
        return object.members.compactMap { objects[$0]?.hop }
    }

    /// Marks the IPv4 hops of a device as dead. IPv4 sends no message, and keeps a route while one of its hops is
    /// usable.
    ///
    /// - Parameter keepingLocal: Whether routes to local addresses are kept, because the link is only down.
    mutating func killIPv4NextHops(on index: UInt32, keepingLocal: Bool) {
        for position in entries.indices where entries[position].family == .ipv4 {
            if keepingLocal, entries[position].scope == .host { continue }
            entries[position].killHops(on: index)
        }
        entries.removeAll { $0.family == .ipv4 && $0.isDead }
    }

    /// Marks the IPv6 hops of a device as dead. IPv6 sends a message for each removed route. A route with several
    /// hops is removed with its last usable hop.
    mutating func killIPv6NextHops(on index: UInt32) {
        for position in entries.indices where entries[position].family == .ipv6 {
            entries[position].killHops(on: index)
        }
        removeLoudly { $0.family == .ipv6 && $0.isDead }
    }

    /// Makes the dead hops of remaining routes usable again.
    mutating func reviveHops(on index: UInt32, families: [AddressFamily]) {
        for position in entries.indices where families.contains(entries[position].family) {
            for hop in entries[position].hops.indices where entries[position].hops[hop].interface == index {
                entries[position].hops[hop].isDead = false
            }
        }
    }

    /// Removes hops from IPv6 routes, and routes without remaining hops from the tables.
    mutating func removeIPv6NextHops(_ isLeaving: (Hop) -> Bool) {
        for position in entries.indices where entries[position].family == .ipv6 {
            guard entries[position].hops.contains(where: isLeaving) else { continue }
            entries[position].hops.removeAll(where: isLeaving)
            announce(entries[position], removed: true)
        }
        entries.removeAll { $0.family == .ipv6 && $0.leadsNowhere }
    }
}

extension FakeNetwork.Entry {
    fileprivate mutating func killHops(on index: UInt32) {
        for hop in hops.indices where hops[hop].interface == index { hops[hop].isDead = true }
    }

    /// Whether the entry has hops and all of them are dead.
    var isDead: Bool { !hops.isEmpty && hops.allSatisfy(\.isDead) }

    /// Whether the entry requires a hop and has none.
    var leadsNowhere: Bool { hops.isEmpty && object == 0 && (kind == .unicast || kind == .local || kind == .multicast) }
}
