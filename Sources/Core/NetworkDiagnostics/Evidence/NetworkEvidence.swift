import LinuxSupport
import Netlink
public import NetworkReachability

/// The reason why a target is reachable or not: the kernel's answers from the name to the verdict.
///
/// The value is created by ``NetworkReachability/NetworkReachabilityManager/evidence()`` and describes one moment. The
/// verdict, ``path``, is determined by the same code as `NetworkReachabilityManager.path`. The other properties explain
/// it. They concern one address: the address that packets are sent to or, if no address is reachable, the one whose
/// obstacle is closest to success.
///
/// ```swift
/// let evidence = manager.evidence()
/// for step in evidence.steps { print(step.kind.rawValue, step.state.rawValue, step.summary) }
/// if let broken = evidence.brokenStep { print(broken.remedy ?? "") }
/// ```
public struct NetworkEvidence: Hashable, Sendable {
    /// The host, as passed to the manager; nil for general reachability.
    public internal(set) var target: String?

    /// The verdict, from the same moment.
    public internal(set) var path: NetworkPath

    /// All addresses of the target, or all addresses for general reachability, with the result for each. Empty while a
    /// name has no address.
    public internal(set) var candidates: [Candidate] = []

    /// The quorum of each family for general reachability, IPv4 first; empty for a host.
    public internal(set) var quorums: [Quorum] = []

    /// The results for both families if the target has addresses of both, IPv4 first; otherwise empty.
    public internal(set) var families: [Family] = []

    /// The resolution of the name; nil if the target is not a name.
    ///
    /// If the name servers are not reachable, ``rule``, ``route``, ``links``, ``neighbour`` and the steps after the
    /// name are about the path to the servers.
    public internal(set) var resolver: Resolver?

    /// The policy rule that led to the route or rejected the packets. Nil if no rule did, or if the kernel does not
    /// show it.
    public internal(set) var rule: Rule?

    /// The route that packets take or would take; nil if no route exists.
    public internal(set) var route: Route?

    /// If no route is selected, the best route that covers the destination but is not used. Nil if no such route
    /// exists.
    public internal(set) var passedOver: PassedOver?

    /// The interface that packets leave through, followed by its lower interfaces. If the state of the links is the
    /// reason that there is no route, all links except the loopback interface.
    public internal(set) var links: [Link] = []

    /// The neighbour that packets are sent to: the gateway or, on the link, the destination. Nil if no neighbour is
    /// needed, as for tunnels and addresses of this machine, and if an earlier step is broken.
    public internal(set) var neighbour: Neighbour?

    /// All steps of the chain, in their order.
    public internal(set) var steps: [Step] = []

    /// The first broken step; nil if the target is reachable.
    public var brokenStep: Step? { steps.first { $0.state == .broken } }

    init(target: String?, path: NetworkPath) {
        self.target = target
        self.path = path
    }
}

extension NetworkEvidence {
    /// One of the evaluated addresses.
    public struct Candidate: Hashable, Sendable {
        /// The address.
        public var address: IPAddress

        /// The reason why the address is not reachable; nil if it is reachable.
        public var reason: NetworkPath.UnsatisfiedReason?

        /// A Boolean value that indicates whether the rest of the evidence is about this address.
        public var isDeciding: Bool

        /// A Boolean value that indicates whether the address is reachable.
        public var isReachable: Bool { reason == nil }
    }
}

extension NetworkEvidence {
    /// The quorum of one family for general reachability. The target is reachable if one of the families has its
    /// quorum.
    public struct Quorum: Hashable, Sendable {
        /// A Boolean value that indicates whether the family is IPv6.
        public var isIPv6: Bool

        /// The number of addresses of the family.
        public var addresses: Int

        /// The number of reachable addresses.
        public var reachable: Int

        /// The required number of reachable addresses: more than half.
        public var needed: Int

        /// A Boolean value that indicates whether the required number is reached.
        public var isReached: Bool { reachable >= needed }
    }
}

extension NetworkEvidence.Quorum: CustomStringConvertible {
    /// The family and the counts, for example `IPv4 8 of 8`.
    public var description: String { "\(isIPv6 ? "IPv6" : "IPv4") \(reachable) of \(addresses)" }
}

extension NetworkEvidence {
    /// The result of one family for a target with addresses of both families.
    public struct Family: Hashable, Sendable {
        /// A Boolean value that indicates whether the family is IPv6.
        public var isIPv6: Bool

        /// The reason why the target is not reachable over the family; nil if it is reachable.
        public var reason: NetworkPath.UnsatisfiedReason?

        /// A Boolean value that indicates whether the target is reachable over the family.
        public var isReachable: Bool { reason == nil }
    }
}

extension EvidenceFacts {
    /// Both families, IPv4 first; empty if the target has addresses of only one family.
    var families: [NetworkEvidence.Family] {
        let families = [false, true].compactMap { isIPv6 -> NetworkEvidence.Family? in
            let candidates = candidates.filter { $0.address.isIPv6 == isIPv6 }
            if candidates.isEmpty { return nil }
            let quorum = quorums.first { $0.isIPv6 == isIPv6 }
            if quorum?.isReached ?? candidates.contains(where: \.isReachable) { return .init(isIPv6: isIPv6) }
            let reasons = Set(candidates.compactMap(\.reason))
            let worst = Verdict.Cause.allCases.last { reasons.contains($0.reason) }
            return .init(isIPv6: isIPv6, reason: worst?.reason ?? .refused)
        }
        return families.count == 2 ? families : []
    }

    /// The families over which a target with addresses of both is reachable; nil for other targets, and if it is not
    /// reachable.
    var familyNote: String? {
        if families.count == 2, families.allSatisfy(\.isReachable) { return "over IPv4 and IPv6" }
        guard let alive = families.first(where: \.isReachable), let dead = families.first(where: { !$0.isReachable }),
            let reason = dead.reason
        else { return nil }
        func name(_ family: NetworkEvidence.Family) -> String { family.isIPv6 ? "IPv6" : "IPv4" }
        return "over \(name(alive)) only (\(name(dead)): \(reason))"
    }
}

extension NetworkEvidence {
    /// An interface with its state, as the kernel reported it at that moment.
    public struct Link: Hashable, Sendable {
        /// The interface. Its lower interfaces are also elements of ``NetworkEvidence/links``.
        public var interface: NetworkInterface

        /// A Boolean value that indicates whether the link is administratively up (IFF_UP).
        public var isUp: Bool

        /// A Boolean value that indicates whether the driver detects carrier (IFF_LOWER_UP).
        public var hasCarrier: Bool

        /// A Boolean value that indicates whether the link waits for an external event (RFC 2863).
        public var isDormant: Bool

        /// The far end of a tunnel. Nil if there are several far ends, or if the kernel does not report them.
        public var tunnelRemote: IPAddress?

        /// A Boolean value that indicates whether the link is a tunnel whose far end the kernel does not report to this
        /// process.
        var hidesFarEnd = false

        /// The kind of the device (IFLA_INFO_KIND).
        let kind: String?

        /// A Boolean value that indicates whether the carrier of the link depends on its ports.
        let hasPorts: Bool

        /// The reason why no packet leaves through the link; nil if the link is usable.
        let obstacle: NetworkPath.UnsatisfiedReason?

        init(_ interface: NetworkInterface, _ link: Netlink.Link) {
            hasPorts = link.hasPorts
            obstacle = link.obstacle?.reason
            kind = link.kind
            self.interface = interface
            isUp = link.isUp
            hasCarrier = link.hasCarrier
            isDormant = link.isDormant
            tunnelRemote = link.tunnelRemote.map { IPAddress($0) }
        }
    }
}

extension NetworkEvidence.Link: CustomStringConvertible {
    /// The name, the type and the state, for example `eth0 (ethernet) up, carrier`.
    public var description: String {
        let state = isUp ? "up, \(hasCarrier ? "carrier" : "no carrier")" : "down"
        return "\(interface.name) (\(interface.type.rawValue)) \(state)" + (isUp && isDormant ? ", dormant" : "")
    }
}

extension NetworkEvidence {
    /// The neighbour that packets are sent to (`ip-neighbour(8)`).
    ///
    /// The neighbour does not influence the verdict. A missing or stale entry is normal if no packet was sent recently.
    /// A failed entry indicates a dead gateway, but the kernel queries the gateway again for the next packet, and it
    /// may answer.
    public struct Neighbour: Hashable, Sendable {
        /// The state of a neighbour entry (RFC 4861, section 7.3.2; NUD_* in `<linux/neighbour.h>`). The raw value is
        /// the name in JSON output.
        public enum State: String, Hashable, Sendable, CaseIterable {
            /// No entry exists, or its state is not known.
            case none
            /// The address is being resolved for the first time.
            case incomplete
            /// The neighbour answered recently.
            case reachable
            /// The neighbour answered earlier. Its reachability is checked with the next packet.
            case stale
            /// A packet was sent, and an answer is awaited.
            case delay
            /// The neighbour is being queried again.
            case probe
            /// The neighbour did not answer.
            case failed
            /// The link does not use address resolution.
            case noarp
            /// The entry was set by an administrator.
            case permanent
        }

        /// The address of the neighbour.
        public var address: IPAddress

        /// The name of the neighbour's interface.
        public var interface: String

        /// The state of the entry.
        public var state: State

        /// The link-layer address in hexadecimal, with colons between the bytes; nil while it is not known.
        public var hardwareAddress: String?

        /// A Boolean value that indicates whether the neighbour is the gateway. False if it is the destination.
        public var isGateway: Bool
    }
}

extension NetworkEvidence.Neighbour.State {
    init(_ state: NeighbourState) {
        switch state {
        case .incomplete: self = .incomplete
        case .reachable: self = .reachable
        case .stale: self = .stale
        case .delay: self = .delay
        case .probe: self = .probe
        case .failed: self = .failed
        case .noARP: self = .noarp
        case .permanent: self = .permanent
        default: self = .none
        }
    }

    /// The meaning of the state in a short text.
    var meaning: String {
        switch self {
        case .none: "not queried recently, which is normal"
        case .incomplete: "being resolved, no answer yet"
        case .reachable: "reachable, answered recently"
        case .stale: "stale, which is normal without recent traffic"
        case .delay, .probe: "\(rawValue), being queried again"
        case .failed: "failed, did not answer: probably down, but will be queried again"
        case .noarp: "noarp, needs no resolution"
        case .permanent: "permanent, set manually"
        }
    }
}

extension NetworkEvidence.Neighbour: CustomStringConvertible {
    /// The neighbour and its state, for example `gateway 192.0.2.1 reachable, answered recently`.
    public var description: String { "\(isGateway ? "gateway " : "")\(address) \(state.meaning)" }
}

extension NetworkEvidence.Neighbour {
    /// Creates the description of a neighbour.
    ///
    /// - Parameter answer: The neighbour entry; nil if no entry exists.
    init(_ address: WireAddress, on link: Netlink.Link, _ answer: Netlink.Neighbour?, isGateway: Bool) {
        let bytes = answer?.hardwareAddress ?? []
        self.init(
            address: IPAddress(address, zone: address.isLinkLocal ? link.name : nil),
            interface: link.name,
            state: answer.map { State($0.state) } ?? .none,
            hardwareAddress: bytes.isEmpty ? nil : bytes.hexadecimal(separator: ":"),
            isGateway: isGateway
        )
    }
}
