import LinuxSupport
import Netlink
public import NetworkReachability

/// The reason that a target is reachable or not: the answers of the kernel from its name to the verdict.
///
/// A value that is gathered at one moment by ``NetworkReachability/NetworkReachabilityManager/evidence()`` and does not change by itself. The
/// verdict, ``path``, is made by the same judge as `NetworkReachabilityManager.path`; the rest explains it. It is about the
/// address that decided: the one packets go to or, where none can, the one whose obstacle explains most.
///
/// ```swift
/// let evidence = manager.evidence()
/// for step in evidence.steps { print(step.kind.rawValue, step.state.rawValue, step.summary) }
/// if let broken = evidence.brokenStep { print(broken.remedy ?? "") }
/// ```
public struct NetworkEvidence: Hashable, Sendable {
    /// The host as the manager was given it; nil for the network at large.
    public internal(set) var target: String?

    /// The verdict, of the same moment.
    public internal(set) var path: NetworkPath

    /// Every address of the target, or of the network at large every one that stands for it, with what becomes of packets
    /// to it. Empty while a name has none.
    public internal(set) var candidates: [Candidate] = []

    /// For the network at large the quorum of each family, IPv4 first; empty for a host.
    public internal(set) var quorums: [Quorum] = []

    /// Both families of a target with addresses of both, IPv4 first; otherwise empty.
    public internal(set) var families: [Family] = []

    /// How the name was looked up; nil for a target that is none. Where its servers cannot be reached, ``rule``, ``route``,
    /// ``links``, ``neighbour`` and the steps after the name are about the path to them.
    public internal(set) var resolver: Resolver?

    /// The policy rule that led to the route, or that refused; nil where no rule did, or where the kernel does not show it.
    public internal(set) var rule: Rule?

    /// The route that packets take or would take; nil if there is none.
    public internal(set) var route: Route?

    /// Where there is no route: the best one that covers the destination and is not taken; nil for none.
    public internal(set) var passedOver: PassedOver?

    /// The interface packets leave through and what it runs over, the next layer first. Where the links themselves are the
    /// reason that no route is left, all of them but the loopback.
    public internal(set) var links: [Link] = []

    /// The neighbour that packets are handed to: the gateway or, on the link itself, the destination. Nil where none is
    /// needed, as for tunnels and addresses of this machine, and where the chain breaks before.
    public internal(set) var neighbour: Neighbour?

    /// The whole chain in its order, one step for each link of it.
    public internal(set) var steps: [Step] = []

    /// The first step that is broken; nil when the target is reachable.
    public var brokenStep: Step? { steps.first { $0.state == .broken } }

    init(target: String?, path: NetworkPath) {
        self.target = target
        self.path = path
    }
}

extension NetworkEvidence {
    /// One of the addresses that were judged.
    public struct Candidate: Hashable, Sendable {
        /// The address.
        public var address: IPAddress

        /// Why packets do not get there; nil when they do.
        public var reason: NetworkPath.UnsatisfiedReason?

        /// Whether the rest of the evidence is about this address.
        public var isDeciding: Bool

        /// Whether packets get there.
        public var isReachable: Bool { reason == nil }
    }
}

extension NetworkEvidence {
    /// How one family stands on the network at large, which is reachable when one of both has its quorum.
    public struct Quorum: Hashable, Sendable {
        /// Whether this is about IPv6.
        public var isIPv6: Bool

        /// How many addresses stand for it.
        public var addresses: Int

        /// How many of them can be reached.
        public var reachable: Int

        /// How many are needed: more than half.
        public var needed: Int

        /// Whether enough can be reached.
        public var isReached: Bool { reachable >= needed }
    }
}

extension NetworkEvidence.Quorum: CustomStringConvertible {
    /// For example `IPv4 8 of 8`.
    public var description: String { "\(isIPv6 ? "IPv6" : "IPv4") \(reachable) of \(addresses)" }
}

extension NetworkEvidence {
    /// What becomes of packets of one family to a target that has addresses of both.
    public struct Family: Hashable, Sendable {
        /// Whether the family is IPv6.
        public var isIPv6: Bool

        /// Why the target cannot be reached over it; nil when it can.
        public var reason: NetworkPath.UnsatisfiedReason?

        /// Whether the target is reachable over the family.
        public var isReachable: Bool { reason == nil }
    }
}

extension EvidenceFacts {
    /// Both families, IPv4 first; empty where the target has addresses of one only.
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

    /// The families over which a target with addresses of both is reachable; nil for other targets, and if it is not reachable.
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
    /// An interface and its state, each as the kernel said it at that moment.
    public struct Link: Hashable, Sendable {
        /// Which it is. What it runs over is in ``NetworkEvidence/links`` too.
        public var interface: NetworkInterface

        /// Whether the link is administratively up (IFF_UP).
        public var isUp: Bool

        /// Whether its driver sees a carrier (IFF_LOWER_UP).
        public var hasCarrier: Bool

        /// Whether the link waits for an external event (RFC 2863).
        public var isDormant: Bool

        /// The far end of a tunnel; nil if there are several, and if the kernel does not report it.
        public var tunnelRemote: IPAddress?

        /// Whether the link is a tunnel whose far end the kernel does not report to this process.
        var hidesFarEnd = false

        /// The kind of the device (IFLA_INFO_KIND).
        let kind: String?

        /// Whether its carrier is that of its ports.
        let hasPorts: Bool

        init(_ interface: NetworkInterface, _ link: Netlink.Link) {
            hasPorts = link.hasPorts
            kind = link.kind
            self.interface = interface
            isUp = link.isUp
            hasCarrier = link.hasCarrier
            isDormant = link.isDormant
            tunnelRemote = link.tunnelRemote.map { IPAddress($0) }
        }

        /// Why no packet leaves through it.
        var obstacle: NetworkPath.UnsatisfiedReason? {
            if !isUp { return .linkDown }
            return hasCarrier ? (isDormant ? .dormant : nil) : .noCarrier
        }
    }
}

extension NetworkEvidence.Link: CustomStringConvertible {
    /// For example `eth0 (ethernet) up, carrier`.
    public var description: String {
        let state = isUp ? "up, \(hasCarrier ? "carrier" : "no carrier")" : "down"
        return "\(interface.name) (\(interface.type.rawValue)) \(state)" + (isUp && isDormant ? ", dormant" : "")
    }
}

extension NetworkEvidence {
    /// The neighbour that packets are sent to, `ip-neighbour(8)`.
    ///
    /// It changes no verdict. No entry and a stale one are normal: nothing was sent lately. A failed one is evidence of a dead
    /// gateway, but the kernel asks it again with the next packet, and it may answer.
    public struct Neighbour: Hashable, Sendable {
        /// The state of an entry (RFC 4861, section 7.3.2; NUD_* in `<linux/neighbour.h>`). The raw value is the name.
        public enum State: String, Hashable, Sendable, CaseIterable {
            /// There is no entry, or nothing is known.
            case none
            /// It is being asked for, for the first time.
            case incomplete
            /// It answered a moment ago.
            case reachable
            /// It answered once; the next packet finds out whether it still does.
            case stale
            /// A packet was sent; an answer is waited for.
            case delay
            /// It is being asked again.
            case probe
            /// It did not answer.
            case failed
            /// The link does not resolve addresses.
            case noarp
            /// An administrator has set the entry.
            case permanent
        }

        /// The address of the neighbour.
        public var address: IPAddress

        /// The name of the interface it is on.
        public var interface: String

        /// How it stands.
        public var state: State

        /// The link-layer address, two hexadecimal digits for each byte with colons between; nil while it is not known.
        public var hardwareAddress: String?

        /// Whether the neighbour is the gateway, and not the destination itself.
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

    /// The meaning, in a few words.
    var meaning: String {
        switch self {
        case .none: "not asked for lately, which is normal"
        case .incomplete: "being asked for, no answer yet"
        case .reachable: "reachable, it answered a moment ago"
        case .stale: "stale, which is normal while little is sent"
        case .delay, .probe: "\(rawValue), being asked again"
        case .failed: "failed, it did not answer: probably dead, but it will be asked again"
        case .noarp: "noarp, it need not be asked"
        case .permanent: "permanent, set by hand"
        }
    }
}

extension NetworkEvidence.Neighbour: CustomStringConvertible {
    /// For example `gateway 192.0.2.1 reachable, it answered a moment ago`.
    public var description: String { "\(isGateway ? "gateway " : "")\(address) \(state.meaning)" }
}

extension NetworkEvidence.Neighbour {
    /// - Parameter answer: The entry; nil if there is none.
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
