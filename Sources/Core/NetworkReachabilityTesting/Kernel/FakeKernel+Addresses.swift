import Netlink

extension FakeKernel {
    /// Adds an address, and with it the route to its prefix.
    ///
    /// - Parameters:
    ///   - address: the address with the length of its prefix, such as `10.0.0.2/24` or `fd00::2/64`.
    ///   - link: the name of the link.
    ///   - tentative: whether IPv6 still checks for a duplicate; the address is not used before `finishDetection(of:on:)`.
    ///   - linkScope: whether an IPv4 address is valid on its link alone, as with `ip address add ... scope link`. Programs that
    ///     configure addresses of 169.254.0.0/16 set this scope (RFC 3927).
    public func addAddress(_ address: String, to link: String, tentative: Bool = false, linkScope: Bool = false) {
        change { network throws(Refusal) in
            let prefix = try Prefix(parsing: address)
            try network.addAddress(prefix, to: link, isTentative: tentative, isOfLink: linkScope)
        }
    }

    /// Removes an address, written with or without the length of its prefix. When it was the last IPv4 address of its
    /// link, all IPv4 routes through the link vanish silently; IPv6 default routes stay.
    public func removeAddress(_ address: String, from link: String) {
        change { network throws(Refusal) in try network.removeAddress(try Prefix(parsing: address), from: link) }
    }

    /// Nobody else has the tentative IPv6 address: from now on it is used.
    public func finishDetection(of address: String, on link: String) {
        change { network throws(Refusal) in
            try network.update(try Prefix(parsing: address).address, on: link) { $0.isTentative = false }
        }
    }

    /// The preferred lifetime of an address is over, or begins anew: it is used only where there is no other.
    public func setDeprecated(_ address: String, on link: String, _ isDeprecated: Bool = true) {
        change { network throws(Refusal) in
            try network.update(try Prefix(parsing: address).address, on: link) { $0.isDeprecated = isDeprecated }
        }
    }
}
