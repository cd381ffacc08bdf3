import CLinux
import LinuxPrimitives

/// A next hop object: a hop of its own, a group of others, or a hole.
///
/// C counterpart: `nhmsg` and `NHA_*` in `<linux/nexthop.h>`, `ip-nexthop(8)`.
package struct NextHopObject: Hashable, Sendable {
    package var nextHop: NextHop?
    /// The objects of a group.
    package var members: [UInt32]
    package var isBlackhole: Bool

    package init(nextHop: NextHop? = nil, members: [UInt32] = [], isBlackhole: Bool = false) {
        self.nextHop = nextHop
        self.members = members
        self.isBlackhole = isBlackhole
    }

    /// Reads an RTM_NEWNEXTHOP body; nil when it is truncated.
    init?(body: UnsafeRawBufferPointer) {
        guard body.load(nhmsg.self, at: 0) != nil else { return nil }
        self.init()
        var hop = NextHop(interface: 0)
        for (type, value) in Attributes(body.bytes(from: MemoryLayout<nhmsg>.size)) {
            switch type {
            case NHA_OIF: hop.interface = value.word ?? 0
            case NHA_GATEWAY: hop.gateway = WireAddress(bytes: value)
            case NHA_BLACKHOLE: isBlackhole = true
            case NHA_GROUP: members = Self.group(value)
            default: break
            }
        }
        if hop.interface != 0 { nextHop = hop }
    }

    private static func group(_ value: UnsafeRawBufferPointer) -> [UInt32] {
        stride(from: 0, to: value.count, by: MemoryLayout<nexthop_grp>.size).compactMap {
            value.load(nexthop_grp.self, at: $0)?.id
        }
    }
}
