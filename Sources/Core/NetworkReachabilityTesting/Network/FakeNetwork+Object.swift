import Netlink

extension FakeNetwork {
    /// A next hop object: a leg, a group of others, or a hole.
    struct Object: Hashable, Sendable {
        var leg: Leg?
        var members: [UInt32] = []
        var isBlackhole = false

        var answer: NextHopObject {
            NextHopObject(nextHop: leg?.answer, members: members, isBlackhole: isBlackhole)
        }
    }
}
