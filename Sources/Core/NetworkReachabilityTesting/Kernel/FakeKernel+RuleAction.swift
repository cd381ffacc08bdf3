import LinuxPrimitives
import Netlink

extension FakeKernel {
    /// What a rule does with packets that match it.
    public enum RuleAction: Hashable, Sendable {
        /// The table is asked; 254 is the main one.
        case lookUp(table: UInt32)
        /// They vanish; programs get EINVAL.
        case blackhole
        /// They are refused; programs get ENETUNREACH (a route of this kind says EHOSTUNREACH).
        case unreachable
        /// They are forbidden; programs get EACCES.
        case prohibit

        var action: FakeNetwork.Rule.Action {
            switch self {
            case .lookUp(let table): .lookUp(table)
            case .blackhole: .fail(.invalidArgument)
            case .unreachable: .fail(.networkUnreachable)
            case .prohibit: .fail(.accessDenied)
            }
        }
    }
}
