import Netlink

extension FakeKernel {
    /// Adds a next hop object that sends to a router.
    public func addNextHop(_ id: UInt32, via gateway: String, on link: String) {
        setNextHop(id, via: gateway, on: link, replacing: false)
    }

    /// Points a next hop object to another router; the routes that use it follow.
    public func replaceNextHop(_ id: UInt32, via gateway: String, on link: String) {
        setNextHop(id, via: gateway, on: link, replacing: true)
    }

    /// Adds a next hop object in which packets vanish, or makes one of another.
    public func setNextHopBlackhole(_ id: UInt32) {
        change { network throws(Refusal) in
            try network.setObject(id, FakeNetwork.Object(isBlackhole: true), replacing: true)
        }
    }

    /// Adds a group of next hop objects.
    public func addNextHopGroup(_ id: UInt32, of members: [UInt32]) {
        change { network throws(Refusal) in
            try network.setObject(id, FakeNetwork.Object(members: members), replacing: false)
        }
    }

    /// Removes a next hop object and the routes that use it, IPv4 routes without a message of their own. Groups lose a
    /// member, and go with their last.
    public func removeNextHop(_ id: UInt32) {
        change { network throws(Refusal) in try network.removeObject(id) }
    }

    private func setNextHop(_ id: UInt32, via gateway: String, on link: String, replacing: Bool) {
        change { network throws(Refusal) in
            let hop = FakeNetwork.Hop(interface: try network.index(of: link), gateway: try FakeKernel.address(gateway))
            try network.setObject(id, FakeNetwork.Object(hop: hop), replacing: replacing)
        }
    }
}
