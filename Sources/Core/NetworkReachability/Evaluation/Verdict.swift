package import LinuxSupport
import Netlink

/// The result of judging packets to one address.
package struct Verdict: Hashable, Sendable {
    /// The properties with which packets leave.
    package struct Egress: Hashable, Sendable {
        /// The index of the outgoing link.
        package var link: UInt32
        package var gateway: WireAddress?
        package var source: WireAddress
        package var table: UInt32?
        package var mtu: UInt32
        /// A Boolean value that indicates whether the destination is an address of this machine.
        package var isLocal: Bool
    }

    /// The obstacle that blocks packets, with the link where it was found.
    package struct Obstacle: Error, Hashable, Sendable {
        package var cause: Cause
        /// The index of the link where the obstacle is; nil if it is not a property of a link.
        package var link: UInt32?
        package var gateway: WireAddress?
        package var source: WireAddress?
        /// A Boolean value that indicates whether the obstacle is below the link, not the link itself.
        package var isBelow = false

        package init(_ cause: Cause, link: UInt32? = nil) {
            self.cause = cause
            self.link = link
        }

        package var reason: NetworkPath.UnsatisfiedReason { cause.reason }
    }

    package var destination: IPAddress
    package var outcome: Result<Egress, Obstacle>
    /// The time after which to evaluate again, although no event will arrive, because a route expires; nil if no route
    /// expires.
    package var lifetime: Duration?

    /// A Boolean value that indicates whether packets flow now, without user intervention.
    package var isSatisfied: Bool {
        if case .success = outcome { true } else { false }
    }
}

extension Verdict {
    /// The cause of an obstacle, with the name of its reason as the raw value. If addresses have different causes, the
    /// last one in this order is reported, because it is the closest to success.
    package enum Cause: String, CaseIterable, Comparable, Sendable {
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
        case interfaceNotAllowed

        package var reason: NetworkPath.UnsatisfiedReason { NetworkPath.UnsatisfiedReason(rawValue: rawValue) }

        /// The part of a path that a cause concerns.
        package enum Subject: Sendable { case route, link, source }

        package var subject: Subject {
            switch self {
            case .noInterface, .discarded, .linkDown, .noCarrier, .dormant, .interfaceNotAllowed: .link
            case .noSourceAddress: .source
            case .noRoute, .refused, .unreachable, .blackholed, .prohibited: .route
            }
        }

        /// Creates the cause for a reason; nil for reasons that no verdict has, which concern the name or the kernel.
        package init?(_ reason: NetworkPath.UnsatisfiedReason) {
            self.init(rawValue: reason.rawValue)
        }

        private static let order = Dictionary(uniqueKeysWithValues: zip(allCases, 0...))

        package static func < (one: Cause, other: Cause) -> Bool { order[one, default: 0] < order[other, default: 0] }
    }
}

extension Verdict.Obstacle {
    /// Creates an obstacle from the error number of a failed route lookup. `connect(2)` fails with the same numbers
    /// (measured).
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

/// A set of addresses that decides a target with as few verdicts as possible. Pure.
package struct Quorum {
    /// The number of reachable addresses that are required.
    package enum Rule: Hashable, Sendable {
        /// More than half.
        case majority
        /// One address is sufficient. All addresses are evaluated at once.
        case one
    }

    package let addresses: [IPAddress]
    private let rule: Rule
    /// The verdicts on the first addresses, in their order.
    package private(set) var verdicts: [Verdict] = []
    private var satisfied = 0

    package init(_ addresses: [IPAddress], _ rule: Rule) {
        self.addresses = addresses
        self.rule = rule
    }

    package var needed: Int { rule == .majority ? addresses.count / 2 + 1 : 1 }

    package var isReached: Bool { satisfied >= needed }

    /// A Boolean value that indicates whether the quorum is reached, or can no longer be reached.
    package var isDecided: Bool { isReached || satisfied + addresses.count - verdicts.count < needed }

    /// The addresses to evaluate next; empty if the quorum is decided.
    package var next: ArraySlice<IPAddress> {
        if isDecided { return [] }
        let rest = addresses.dropFirst(verdicts.count)
        return rule == .majority ? rest.prefix(needed - satisfied) : rest
    }

    package mutating func count(_ more: [Verdict]) {
        satisfied += more.count(where: \.isSatisfied)
        verdicts += more
    }

    /// The first satisfied verdict that leaves through the most frequent interface.
    var mostCommon: Verdict? {
        let links = verdicts.compactMap(\.link)
        let counts = Dictionary(grouping: links) { $0 }.mapValues(\.count)
        guard let most = counts.values.max() else { return nil }
        return verdicts.first { verdict in verdict.link.map { counts[$0] == most } ?? false }
    }

    /// The first verdict with the obstacle that is closest to success.
    var worst: Verdict? { Verdict.worst(verdicts) }

    /// The shortest lifetime of the verdicts.
    var lifetime: Duration? { verdicts.compactMap(\.lifetime).min() }
}

extension Verdict {
    /// The link of a satisfied verdict.
    fileprivate var link: UInt32? {
        if case .success(let egress) = outcome { egress.link } else { nil }
    }

    /// Returns the first verdict with the obstacle that is closest to success; nil if none has an obstacle.
    static func worst(_ verdicts: [Verdict]) -> Verdict? {
        var worst: (verdict: Verdict, cause: Cause)?
        for verdict in verdicts {
            guard case .failure(let obstacle) = verdict.outcome else { continue }
            if worst.map({ $0.cause < obstacle.cause }) ?? true { worst = (verdict, obstacle.cause) }
        }
        return worst?.verdict
    }
}
