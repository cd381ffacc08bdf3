package import LinuxSupport
import Netlink

/// A target to evaluate.
package struct EvaluationSubject: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// General reachability: the majority of the addresses of one family decides, IPv4 before IPv6.
        case majority([IPAddress])
        /// A host: one reachable address is sufficient.
        case any([IPAddress])
        /// A name without an address, with the reason and the name servers that may know it, if they are known.
        case unnamed(NetworkPath.UnsatisfiedReason, servers: [IPAddress]?)
    }

    package var kind: Kind
    package var constraints: PathConstraints

    package init(_ kind: Kind, _ constraints: PathConstraints = PathConstraints()) {
        (self.kind, self.constraints) = (kind, constraints)
    }

    package func check(_ address: IPAddress) -> AddressCheck {
        AddressCheck(address, constraints)
    }
}

/// A path, and the time for which it is valid if no event arrives.
package struct Evaluation: Hashable, Sendable {
    package var path: NetworkPath
    /// The time after which to evaluate again, although no event will arrive; nil if the path does not expire.
    package var lifetime: Duration?

    package init(path: NetworkPath, lifetime: Duration? = nil) {
        (self.path, self.lifetime) = (path, lifetime)
    }
}

extension PathEvaluator {
    /// Returns the path to a target.
    package mutating func evaluate(_ subject: EvaluationSubject) throws(MissingAnswers) -> Evaluation {
        switch subject.kind {
        case .any(let addresses):
            let quorum = try quorum(of: addresses, .one, subject)
            return try evaluation(of: [quorum], quorum.verdicts.first(where: \.isSatisfied) ?? quorum.worst)
        case .majority(let addresses):
            var quorums: [Quorum] = []
            // Both families are judged in one pass, so that the result for IPv6 is already known if IPv4 is lost.
            try MissingAnswers.forEach([false, true]) { isIPv6 throws(MissingAnswers) in
                quorums.append(try quorum(of: addresses.filter { $0.isIPv6 == isIPv6 }, .majority, subject))
            }
            let deciding = quorums.first(where: \.isReached)?.mostCommon
            return try evaluation(of: quorums, deciding ?? Verdict.worst(quorums.compactMap(\.worst)))
        case .unnamed(let reason, let servers):
            let unnamed = NetworkPath(flags: reason == .nameNotResolved ? [] : nil, reason: reason)
            guard let servers else { return Evaluation(path: unnamed) }
            // The queries of the C library have no firewall mark and are not bound.
            var found = try evaluate(EvaluationSubject(.any(servers)))
            // Without a server there is no destination, and "no route" is not informative.
            let isMoreSpecific = found.path.destination != nil || found.path.reason != .noRoute
            if found.path.status.isReachable || !isMoreSpecific { found.path = unnamed }
            found.path.destination = nil
            return found
        }
    }

    /// Judges addresses until the quorum is decided.
    package mutating func quorum(
        of addresses: [IPAddress],
        _ rule: Quorum.Rule,
        _ subject: EvaluationSubject
    ) throws(MissingAnswers) -> Quorum {
        var quorum = Quorum(addresses, rule)
        while !quorum.isDecided { quorum.count(try verdicts(on: quorum.next.map(subject.check))) }
        return quorum
    }

    private mutating func evaluation(
        of quorums: [Quorum],
        _ deciding: Verdict?
    ) throws(MissingAnswers) -> Evaluation {
        var common = try common(by: deciding)
        let satisfied = quorums.filter(\.isReached).flatMap(\.verdicts).filter(\.isSatisfied)
        common.supportsIPv4 = satisfied.contains { !$0.destination.isIPv6 }
        common.supportsIPv6 = satisfied.contains { $0.destination.isIPv6 }
        common.otherInterfaces = try interfaces(of: satisfied).filter { $0 != common.interface }
        // The link may have been removed in the meantime.
        let isGone = deciding?.isSatisfied == true && common.reason != nil
        return Evaluation(
            path: cache.path(common, to: isGone ? nil : deciding?.destination),
            lifetime: quorums.compactMap(\.lifetime).min()
        )
    }
}

// MARK: - From a verdict to a path

extension PathEvaluator {
    /// Returns the interfaces that packets leave through, without duplicates.
    private mutating func interfaces(of verdicts: [Verdict]) throws(MissingAnswers) -> [NetworkInterface] {
        var links: [UInt32] = []
        for case .success(let egress) in verdicts.map(\.outcome) where !links.contains(egress.link) {
            links.append(egress.link)
        }
        // A single interface is that of the path itself.
        guard links.count > 1 else { return [] }
        var interfaces: [NetworkInterface] = []
        for index in links {
            guard let link = try answers.link(index) else { continue }
            interfaces.append(try cache.interfaces.entry(for: link, &answers).interface)
        }
        return interfaces
    }

    /// Returns the path properties that follow from a verdict; nil stands for a target without addresses.
    private mutating func common(by verdict: Verdict?) throws(MissingAnswers) -> NetworkPath.Common {
        switch verdict?.outcome {
        case .success(let egress)?: try common(through: egress)
        case .failure(let obstacle)?: try common(at: try explained(obstacle))
        case nil: try common(at: try explained(Verdict.Obstacle(.noRoute)))
        }
    }

    private mutating func common(through egress: Verdict.Egress) throws(MissingAnswers) -> NetworkPath.Common {
        guard let link = try answers.link(egress.link) else {
            return NetworkPath.Common(flags: [], reason: .noInterface)
        }
        let known = try cache.interfaces.entry(for: link, &answers)
        var common = NetworkPath.Common(flags: known.flags.union(.reachable), interface: known.interface)
        common.gateway = egress.gateway.map { IPAddress($0) }
        common.source = IPAddress(egress.source, zone: egress.source.isLinkLocal ? link.name : nil)
        common.table = egress.table
        common.mtu = egress.mtu
        common.carrierLosses = try carrierLosses(of: link)
        if egress.isLocal {
            common.flags?.insert(.isLocalAddress)
        } else if egress.gateway == nil {
            common.flags?.insert(.isDirect)
        }
        return common
    }

    private mutating func common(at obstacle: Verdict.Obstacle) throws(MissingAnswers) -> NetworkPath.Common {
        var common = NetworkPath.Common(flags: [], reason: obstacle.reason)
        common.gateway = obstacle.gateway.map { IPAddress($0) }
        // A source address that cannot receive replies is not reported.
        common.source = obstacle.cause == .noSourceAddress ? nil : obstacle.source.map { IPAddress($0) }
        guard let index = obstacle.link, let link = try answers.link(index) else { return common }
        let known = try cache.interfaces.entry(for: link, &answers)
        common.interface = known.interface
        if obstacle.cause == .dormant { common.flags = known.flags.union([.reachable, .connectionRequired]) }
        return common
    }

    /// Returns a more specific obstacle than "no route" if the links show one. When a link goes down, its routes are
    /// removed.
    package mutating func explained(_ obstacle: Verdict.Obstacle) throws(MissingAnswers) -> Verdict.Obstacle {
        guard obstacle.cause == .noRoute, !answers.hasCarrierSomewhere else { return obstacle }
        let links = try answers.links().filter { !$0.isLoopback }
        if links.isEmpty { return Verdict.Obstacle(.noInterface) }
        let uplinks = links.filter { $0.canBeUplink(among: links) }
        let candidates = uplinks.isEmpty ? links : uplinks
        // A link was down when its routes were looked up, and came up before the query for all links.
        for link in candidates where link.hasCarrier {
            guard let before = answers.earlierLink(link.index), !before.hasCarrier else { continue }
            return Verdict.Obstacle(before.isUp ? .noCarrier : .linkDown, link: link.index)
        }
        let up = candidates.filter(\.isUp)
        // If all other links run over one link, that link is the reason.
        let lowest = candidates.filter { link in
            link.isLowerInOtherNamespace || !candidates.contains { $0.index == link.lowerIndex }
        }
        let only = lowest.count == 1 ? lowest.first?.index : nil
        if up.isEmpty { return Verdict.Obstacle(.linkDown, link: only) }
        if !up.contains(where: \.hasCarrier) { return Verdict.Obstacle(.noCarrier, link: only) }
        return obstacle
    }
}

extension Link {
    /// Returns whether packets of this machine can leave to other machines through the link: it is not a port of a
    /// bridge or bond, it does not discard packets, and it has a port if it needs one.
    fileprivate func canBeUplink(among links: [Link]) -> Bool {
        let controller = links.first { $0.index == controllerIndex }
        // A port of a VRF has its own addresses and routes.
        if controllerIndex != nil, controller?.kind != "vrf" { return false }
        return !discardsPackets && (!hasPorts || links.contains { $0.controllerIndex == index })
    }
}

/// A cache that one evaluation leaves for the next. It reduces queries and memory, and never determines where packets
/// go.
package struct EvaluationCache {
    /// The types of interfaces. Valid until a link changes.
    package var interfaces = InterfaceTable()
    /// The queries of the last evaluation, which are sent first in the next one to save round trips. The first query is
    /// about a link: a notification can arrive before the state that it announces, but the answer to a link query
    /// cannot.
    private(set) var expected = Self.first
    /// The most recent shared properties of paths. Thousands of targets that leave through the same interface share one
    /// object.
    private var recent: [SharedValue<NetworkPath.Common>] = []

    private static let first: [KernelQuery] = [.link(1)]
    private static let linkLimit = 4
    private static let recentLimit = 8

    package init() {}

    mutating func path(_ common: NetworkPath.Common, to destination: IPAddress?) -> NetworkPath {
        if let known = recent.last(where: { $0.value == common }) { return NetworkPath(known, to: destination) }
        if recent.count == Self.recentLimit { recent.removeFirst() }
        let new = SharedValue(common)
        recent.append(new)
        return NetworkPath(new, to: destination)
    }

    /// Records the queries whose answers an evaluation has used. Returns true if all of these queries will be sent
    /// first in the next evaluation.
    mutating func note(_ used: [KernelQuery]) -> Bool {
        var links = used.filter(\.isLink)
        let isEnough =
            links.count <= Self.linkLimit && used.count < Answers.usedLimit && used.allSatisfy(\.isCheap)
        // The links of earlier paths show whether any link has carrier.
        for link in expected where link.isLink && !links.contains(link) && link != .link(1) { links.append(link) }
        links = Array(links.prefix(Self.linkLimit))
        expected = (links.isEmpty ? Self.first : links) + used.filter { $0.isCheap && !$0.isLink }
        return isEnough
    }

    /// Discards the types of interfaces after a change of a link.
    package mutating func forgetInterfaces() {
        interfaces = InterfaceTable()
    }
}

extension KernelQuery {
    var isLink: Bool {
        if case .link = self { true } else { false }
    }

    /// A Boolean value that indicates whether an unnecessary query of this type costs almost nothing.
    fileprivate var isCheap: Bool {
        switch self {
        case .link, .linkNamed, .route: true
        default: false
        }
    }
}

/// The socket options and restrictions that apply to the packets of a program.
package struct PathConstraints: Hashable, Sendable {
    /// The firewall mark of the packets (SO_MARK); 0 for none.
    package var mark: UInt32
    /// The interface that the packets are bound to, by name or index (SO_BINDTODEVICE); nil for none.
    package var interface: String?
    /// The source address that the packets are bound to (`bind(2)`); nil if the kernel selects one.
    package var source: IPAddress?
    /// The only address family to evaluate; nil for both.
    package var family: AddressFamily?
    /// The only permitted type of interface; nil for all.
    package var requiredType: InterfaceType?
    /// The excluded types of interfaces.
    package var prohibitedTypes: Set<InterfaceType> = []

    package init(mark: UInt32 = 0, interface: String? = nil, family: AddressFamily? = nil) {
        (self.mark, self.interface, self.family) = (mark, interface, family)
    }

    /// Returns the addresses of the family to evaluate.
    func counted(_ addresses: [IPAddress]) -> [IPAddress] {
        family == nil ? addresses : addresses.filter { $0.wire.family == family }
    }

    /// A Boolean value that indicates whether some types of interfaces are excluded.
    var limitsTypes: Bool { requiredType != nil || !prohibitedTypes.isEmpty }

    /// Returns whether packets may leave through an interface of this type.
    func permits(_ type: InterfaceType) -> Bool {
        (requiredType ?? type) == type && !prohibitedTypes.contains(type)
    }
}
