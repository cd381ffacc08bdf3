import LinuxPrimitives

extension FakeNetwork {
    /// The source of packets that leave by a leg: the device's first address, better one in the router's prefix, else
    /// one of another device. Nil, and packets leave without one, where there is none.
    ///
    /// C counterpart: `inet_select_addr`.
    func ipv4Source(for leg: Leg, scope: Scope) -> WireAddress? {
        let primaries = addresses.filter { $0.family == .ipv4 && !$0.isSecondary && $0.scope <= scope }
        let own = primaries.filter { $0.interface == leg.interface }
        if let gateway = leg.gateway, let near = own.first(where: { $0.prefix.covers(gateway) }) {
            return near.address
        }
        if let first = own.first { return first.address }
        return primaries.sorted { $0.interface < $1.interface }.first?.address
    }
}
