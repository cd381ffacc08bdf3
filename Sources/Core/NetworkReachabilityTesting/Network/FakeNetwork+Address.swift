import LinuxPrimitives

extension FakeNetwork {
    /// An address of a device.
    struct Address: Hashable, Sendable {
        /// The address itself with the length of its prefix.
        var prefix: Prefix
        var interface: UInt32
        /// Duplicate address detection has not ended (IFA_F_TENTATIVE).
        var isTentative = false
        /// Past its preferred lifetime (IFA_F_DEPRECATED).
        var isDeprecated = false
        /// IPv4: another address of the same prefix came first (IFA_F_SECONDARY).
        var isSecondary = false

        var address: WireAddress { prefix.address }
        var family: AddressFamily { prefix.family }

        /// IPv4: as `ip address add` sets it.
        var scope: Scope { family == .ipv4 && address.isLoopback ? .host : .universe }
    }
}
