public import NetworkReachability

/// Why a target can be reached, or why it cannot: what the kernel said on the way from its name to the verdict.
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

    /// Both families of a target that has addresses of both, IPv4 first; empty elsewhere.
    public internal(set) var families: [Family] = []

    /// How the name was looked up; nil for a target that is none. Where its servers cannot be reached, ``rule``, ``route``,
    /// ``links``, ``neighbour`` and the steps after the name are about the path to them.
    public internal(set) var resolver: Resolver?

    /// The policy rule that led to the route, or that refused; nil where no rule did, or where the kernel does not show it.
    public internal(set) var rule: Rule?

    /// The route that packets take, or would take; nil where there is none.
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
