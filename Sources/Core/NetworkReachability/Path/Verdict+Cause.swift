extension Verdict {
    /// Why packets would not get through. Of several causes the last in this order is told, which is nearest to success.
    enum Cause: UInt8, CaseIterable, Comparable, Sendable {
        case noRoute
        case noInterface
        case refused
        case unreachable
        case blackholed
        case prohibited
        case discarded
        case noSourceAddress
        case linkDown
        case noCarrier
        case dormant

        var reason: NetworkPath.UnsatisfiedReason {
            switch self {
            case .noRoute: .noRoute
            case .noInterface: .noInterface
            case .refused: .refused
            case .unreachable: .unreachable
            case .blackholed: .blackholed
            case .prohibited: .prohibited
            case .discarded: .discarded
            case .noSourceAddress: .noSourceAddress
            case .linkDown: .linkDown
            case .noCarrier: .noCarrier
            case .dormant: .dormant
            }
        }

        /// Whether it stands in the way of one leg of a route only, if there are others.
        var isOfOneLeg: Bool {
            self == .linkDown || self == .noCarrier || self == .noInterface || self == .discarded
        }

        static func < (one: Cause, other: Cause) -> Bool { one.rawValue < other.rawValue }
    }
}
