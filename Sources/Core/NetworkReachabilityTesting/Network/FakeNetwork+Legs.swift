import LinuxPrimitives
import Netlink

/// What becomes of routes when a device does.
extension FakeNetwork {
    /// The legs of an entry, those of its next hop object included.
    func legs(of entry: Entry) -> [Leg] {
        guard entry.object != 0, let object = objects[entry.object] else { return entry.legs }
        if let leg = object.leg { return [leg] }
        return object.members.compactMap { objects[$0]?.leg }
    }

    /// IPv4 tells nothing, and keeps a route as long as one of its legs lives.
    ///
    /// - Parameter keepingLocal: own addresses outlive a link that is only down.
    mutating func killIPv4Legs(on index: UInt32, keepingLocal: Bool) {
        for position in entries.indices where entries[position].family == .ipv4 {
            if keepingLocal, entries[position].scope == .host { continue }
            entries[position].killLegs(on: index)
        }
        entries.removeAll { $0.family == .ipv4 && $0.isDead }
    }

    /// IPv6 tells of every route, and of one of several legs when the last has died.
    mutating func killIPv6Legs(on index: UInt32) {
        for position in entries.indices where entries[position].family == .ipv6 {
            entries[position].killLegs(on: index)
        }
        removeLoudly { $0.family == .ipv6 && $0.isDead }
    }

    /// Legs that died under a living route work again.
    mutating func reviveLegs(on index: UInt32, families: [AddressFamily]) {
        for position in entries.indices where families.contains(entries[position].family) {
            for leg in entries[position].legs.indices where entries[position].legs[leg].interface == index {
                entries[position].legs[leg].isDead = false
            }
        }
    }

    /// Takes legs out of IPv6 routes, and routes out of the tables that have none left.
    mutating func removeIPv6Legs(_ isLeaving: (Leg) -> Bool) {
        for position in entries.indices where entries[position].family == .ipv6 {
            guard entries[position].legs.contains(where: isLeaving) else { continue }
            entries[position].legs.removeAll(where: isLeaving)
            hear(entries[position], removed: true)
        }
        entries.removeAll { $0.family == .ipv6 && $0.isWithoutWay }
    }
}

extension FakeNetwork.Entry {
    fileprivate mutating func killLegs(on index: UInt32) {
        for leg in legs.indices where legs[leg].interface == index { legs[leg].isDead = true }
    }

    /// Whether it had legs and none lives.
    var isDead: Bool { !legs.isEmpty && legs.allSatisfy(\.isDead) }

    /// Whether it was to lead somewhere and does not.
    var isWithoutWay: Bool { legs.isEmpty && object == 0 && (kind == .unicast || kind == .local || kind == .multicast) }
}
