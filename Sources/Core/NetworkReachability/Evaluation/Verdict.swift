package import LinuxSupport
import Netlink

/// What the kernel would do with packets to one address.
package struct Verdict: Hashable, Sendable {
    /// How they would leave.
    package struct Egress: Hashable, Sendable {
        /// The index of the link they leave through.
        package var link: UInt32
        package var gateway: WireAddress?
        package var source: WireAddress
        package var table: UInt32?
        package var mtu: UInt32
        /// The address is one of this machine's own.
        package var isLocal: Bool
    }

    /// What stands in their way, and at which link.
    package struct Obstacle: Error, Hashable, Sendable {
        package var cause: Cause
        /// The index of the link that does.
        package var link: UInt32?
        package var gateway: WireAddress?
        package var source: WireAddress?
        /// Whether it is not the link itself, but what the link runs over.
        package var isBelow = false

        package init(_ cause: Cause, link: UInt32? = nil) {
            self.cause = cause
            self.link = link
        }

        package var reason: NetworkPath.UnsatisfiedReason { cause.reason }
    }

    package var destination: IPAddress
    package var outcome: Result<Egress, Obstacle>
    /// When to ask again although nothing will be announced: a route is about to expire.
    package var lifetime: Duration?

    /// Whether packets flow, now and without anybody's help.
    package var isSatisfied: Bool {
        if case .success = outcome { true } else { false }
    }
}

extension Verdict {
    /// Why packets would not get through. Of several causes the last in this order is the reason, which is nearest to success.
    package enum Cause: Int, CaseIterable, Comparable, Sendable {
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
        case typeNotAllowed

        package var reason: NetworkPath.UnsatisfiedReason {
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
            case .typeNotAllowed: .interfaceNotAllowed
            }
        }

        /// What it is about, in the chain from the route to the source address.
        package enum Subject: Sendable { case route, link, source }

        package var subject: Subject {
            switch self {
            case .noInterface, .discarded, .linkDown, .noCarrier, .dormant, .typeNotAllowed: .link
            case .noSourceAddress: .source
            case .noRoute, .refused, .unreachable, .blackholed, .prohibited: .route
            }
        }

        /// Nil for a reason that no verdict has: the name or the kernel itself is at fault.
        package init?(_ reason: NetworkPath.UnsatisfiedReason) {
            guard let cause = Self.allCases.first(where: { $0.reason == reason }) else { return nil }
            self = cause
        }

        package static func < (one: Cause, other: Cause) -> Bool { one.rawValue < other.rawValue }
    }
}

extension Verdict.Obstacle {
    /// Translates the error number of a route lookup that failed. `connect(2)` fails with the same numbers (measured).
    package init(_ error: SystemError) {
        switch error {
        case .networkUnreachable: self.init(.noRoute)
        case .hostUnreachable: self.init(.unreachable)
        case .accessDenied: self.init(.prohibited)
        case .invalidArgument: self.init(.blackholed)
        case .networkDown: self.init(.linkDown)
        case .noDevice: self.init(.noInterface)
        case .addressNotAvailable: self.init(.noSourceAddress)
        default: self.init(.refused)
        }
    }
}
