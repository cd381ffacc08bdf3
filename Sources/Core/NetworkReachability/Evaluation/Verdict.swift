package import LinuxSupport
import Netlink

/// The result for packets to one address.
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
        /// Whether the obstacle is below the link, not the link itself.
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

        /// The position of the cause in the chain from the route to the source address.
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

/// Enough of a set of addresses to decide for all of them, with as few verdicts as possible. Pure.
package struct Quorum {
    /// How many are needed.
    package enum Rule: Hashable, Sendable {
        /// More than half.
        case majority
        /// One; all are judged at once.
        case one
    }

    package let addresses: [IPAddress]
    private let rule: Rule
    /// Of the first addresses, in their order.
    package private(set) var verdicts: [Verdict] = []
    private var satisfied = 0

    package init(_ addresses: [IPAddress], _ rule: Rule) {
        self.addresses = addresses
        self.rule = rule
    }

    package var needed: Int { rule == .majority ? addresses.count / 2 + 1 : 1 }

    package var isReached: Bool { satisfied >= needed }

    /// Reached, or not to be reached any more.
    package var isDecided: Bool { isReached || satisfied + addresses.count - verdicts.count < needed }

    /// Which to judge next; none when it is decided.
    package var next: ArraySlice<IPAddress> {
        if isDecided { return [] }
        let rest = addresses.dropFirst(verdicts.count)
        return rule == .majority ? rest.prefix(needed - satisfied) : rest
    }

    package mutating func count(_ more: [Verdict]) {
        satisfied += more.count(where: \.isSatisfied)
        verdicts += more
    }

    /// The first of the satisfied verdicts that leave through the interface most of them leave through.
    var mostCommon: Verdict? {
        let links = verdicts.compactMap(\.link)
        let counts = Dictionary(grouping: links) { $0 }.mapValues(\.count)
        guard let most = counts.values.max() else { return nil }
        return verdicts.first { verdict in verdict.link.map { counts[$0] == most } ?? false }
    }

    /// The first of the verdicts with the obstacle that explains most.
    var worst: Verdict? { Verdict.worst(verdicts) }

    /// When the first of the verdicts ends.
    var lifetime: Duration? { verdicts.compactMap(\.lifetime).min() }
}

extension Verdict {
    /// The link of a satisfied verdict.
    fileprivate var link: UInt32? {
        if case .success(let egress) = outcome { egress.link } else { nil }
    }

    /// The first of those whose obstacle explains most; nil if none has an obstacle.
    static func worst(_ verdicts: [Verdict]) -> Verdict? {
        var worst: (verdict: Verdict, cause: Cause)?
        for verdict in verdicts {
            guard case .failure(let obstacle) = verdict.outcome else { continue }
            if worst.map({ $0.cause < obstacle.cause }) ?? true { worst = (verdict, obstacle.cause) }
        }
        return worst?.verdict
    }
}
