import Netlink

extension FakeKernel {
    /// What happens to packets that take a route.
    public enum RouteKind: Hashable, Sendable, CaseIterable {
        /// They are sent.
        case unicast
        /// They are for this host.
        case local
        /// They vanish; programs get EINVAL.
        case blackhole
        /// They are refused; programs get EHOSTUNREACH.
        case unreachable
        /// They are forbidden; programs get EACCES.
        case prohibit
        /// The table is left, and the next rule decides.
        case throwing

        var kind: Netlink.RouteKind {
            switch self {
            case .unicast: .unicast
            case .local: .local
            case .blackhole: .blackhole
            case .unreachable: .unreachable
            case .prohibit: .prohibit
            case .throwing: .throwing
            }
        }
    }
}
