package import LinuxPrimitives

extension FakeKernel {
    /// One of the two families of addresses.
    public enum Family: Hashable, Sendable, CaseIterable {
        case ipv4
        case ipv6

        package var addressFamily: AddressFamily { self == .ipv4 ? .ipv4 : .ipv6 }
    }
}
