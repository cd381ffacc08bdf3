import LinuxPrimitives
import Netlink

extension FakeNetwork {
    /// Adds a next hop object, or puts it in the place of another.
    mutating func setObject(_ id: UInt32, _ object: Object, replacing: Bool) throws(Refusal) {
        guard id > 0 else { throw Refusal("0 is no id of a next hop object") }
        guard replacing || objects[id] == nil else { throw Refusal("there is a next hop object \(id) already") }
        for member in object.members where objects[member] == nil {
            throw Refusal("there is no next hop object \(member) to make a group of")
        }
        if let hop = object.hop { try checkHop(hop, family: hop.gateway?.family ?? .ipv4, table: RoutingTable.main) }
        objects[id] = object
        hear([.nextHop, .addition])
        guard replacing else { return }
        let groups = objects.filter { $0.value.members.contains(id) }.keys
        for entry in entries where entry.object == id || groups.contains(entry.object) { hear(entry) }
    }

    mutating func removeObject(_ id: UInt32) throws(Refusal) {
        guard objects[id] != nil else { throw Refusal("there is no next hop object \(id)") }
        remove(id, isAnnounced: true)
    }

    /// A device that went down or lost its carrier takes its objects along, without a word of them.
    mutating func dropObjects(on index: UInt32) {
        for id in objects.filter({ $0.value.hop?.interface == index }).keys.sorted() { remove(id, isAnnounced: false) }
    }

    /// IPv4 routes go silently with their object; IPv6 tells of each.
    private mutating func remove(_ id: UInt32, isAnnounced: Bool) {
        objects[id] = nil
        if isAnnounced { hear([.nextHop, .removal]) }
        removeLoudly { $0.family == .ipv6 && $0.object == id }
        entries.removeAll { $0.object == id }
        for group in objects.filter({ $0.value.members.contains(id) }).keys.sorted() {
            objects[group]?.members.removeAll { $0 == id }
            if objects[group]?.members.isEmpty == true {
                remove(group, isAnnounced: isAnnounced)
            } else if isAnnounced {
                hear([.nextHop, .addition])
            }
        }
    }
}
