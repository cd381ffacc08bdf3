import LinuxPrimitives
import Netlink

/// What becomes of routes when a device does.
extension FakeNetwork {
    /// The hops of an entry, those of its next hop object included.
    func hops(of entry: Entry) -> [Hop] {
        guard entry.object != 0, let object = objects[entry.object] else { return entry.hops }
        if let hop = object.hop { return [hop] }
        return object.members.compactMap { objects[$0]?.hop }
    }

    /// IPv4 announces nothing, and keeps a route as long as one of its hops lives.
    ///
    /// - Parameter keepingLocal: own addresses outlive a link that is only down.
    mutating func killIPv4NextHops(on index: UInt32, keepingLocal: Bool) {
        for position in entries.indices where entries[position].family == .ipv4 {
            if keepingLocal, entries[position].scope == .host { continue }
            entries[position].killHops(on: index)
        }
        entries.removeAll { $0.family == .ipv4 && $0.isDead }
    }

    /// IPv6 announces every route, and of one of several hops when the last has died.
    mutating func killIPv6NextHops(on index: UInt32) {
        for position in entries.indices where entries[position].family == .ipv6 {
            entries[position].killHops(on: index)
        }
        removeLoudly { $0.family == .ipv6 && $0.isDead }
    }

    /// Hops that died under a living route work again.
    mutating func reviveHops(on index: UInt32, families: [AddressFamily]) {
        for position in entries.indices where families.contains(entries[position].family) {
            for hop in entries[position].hops.indices where entries[position].hops[hop].interface == index {
                entries[position].hops[hop].isDead = false
            }
        }
    }

    /// Takes hops out of IPv6 routes, and routes out of the tables that have none left.
    mutating func removeIPv6NextHops(_ isLeaving: (Hop) -> Bool) {
        for position in entries.indices where entries[position].family == .ipv6 {
            guard entries[position].hops.contains(where: isLeaving) else { continue }
            entries[position].hops.removeAll(where: isLeaving)
            hear(entries[position], removed: true)
        }
        entries.removeAll { $0.family == .ipv6 && $0.leadsNowhere }
    }
}

extension FakeNetwork.Entry {
    fileprivate mutating func killHops(on index: UInt32) {
        for hop in hops.indices where hops[hop].interface == index { hops[hop].isDead = true }
    }

    /// Whether it had hops and none lives.
    var isDead: Bool { !hops.isEmpty && hops.allSatisfy(\.isDead) }

    /// Whether it was to lead somewhere and does not.
    var leadsNowhere: Bool { hops.isEmpty && object == 0 && (kind == .unicast || kind == .local || kind == .multicast) }
}
