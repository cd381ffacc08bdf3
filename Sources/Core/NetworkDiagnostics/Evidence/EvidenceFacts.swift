import LinuxSupport
import Netlink
import NetworkReachability

/// What was found out about a target, before anybody says what it means.
struct EvidenceFacts {
    let target: Target
    /// The verdict; what else is here explains it.
    var path: NetworkPath
    var candidates: [NetworkEvidence.Candidate] = []
    var quorums: [NetworkEvidence.Quorum] = []

    /// The family that is explained; nil for both.
    var family: AddressFamily?
    /// How the name was looked up.
    var resolver: NetworkEvidence.Resolver?
    /// Whether all that follows the name is about its servers, for it has no address and they cannot be asked.
    var isAboutServers = false
    /// The server that decides then.
    var server: IPAddress?
    /// Why a name has no address.
    var nameFailure: NameLookup.Failure?
    /// Why the kernel cannot be asked.
    var kernelFailure: NetlinkError?

    /// What stands in the way of packets to the address that decided.
    var obstacle: Verdict.Obstacle?
    /// Whether links had to explain that there is no route.
    var isExplainedByLinks = false
    /// The zone of the address, where no link has that name.
    var missingZone: String?
    /// What the last lookup failed with.
    var refusal: SystemError?
    var rule: NetworkEvidence.Rule?
    /// Whether `rule` itself refused.
    var ruleRefused = false
    /// Whether `route` itself refused.
    var isRouteRefusing = false
    /// Whether what refuses may be there to keep packets from leaving beside a VPN.
    var mayBeKillSwitch = false
    /// The route that would do if the kernel took it.
    var passedOver: NetworkEvidence.PassedOver?
    /// What keeps IPv6 off the link.
    var ipv6Trouble: IPv6Trouble?
    /// The tables that were asked.
    var tables: [UInt32] = []
    var route: NetworkEvidence.Route?
    var links: [NetworkEvidence.Link] = []
    var neighbour: NetworkEvidence.Neighbour?
    /// Whether the kernel has to find the hardware address of a neighbour.
    var needsNeighbour = false
    /// The source address the kernel would choose, good or not.
    var source: WireAddress?

    init(_ target: Target, _ path: NetworkPath) {
        self.target = target
        self.path = path
    }

    /// The address that decided, and what is known of it.
    var decisive: IPAddress? { server ?? path.destination ?? candidates.first(where: \.isDeciding)?.address }

    /// Whether the name is what stands in the way: there are servers that could be asked, or they have said no.
    var isNameBroken: Bool { path.reason == .nameNotResolved || path.reason == .resolving }

    /// The link that stands in the way: the lowest that does.
    var culprit: NetworkEvidence.Link? { links.last { $0.obstacle != nil } ?? links.first }

    /// The first tunnel of which the far end is known.
    var tunnel: NetworkEvidence.Link? { links.first { $0.tunnelRemote != nil } }

    /// Whether this machine's own addresses are foreign to it, for the loopback device is down.
    var isLoopbackDown: Bool { obstacle?.cause == .linkDown && decisive?.wire.isLoopback == true }

    /// Whether it is one that the first runs over.
    var isLowerToBlame: Bool { links.dropFirst().contains { $0.obstacle != nil } }

    /// All of it, with the chain.
    var evidence: NetworkEvidence {
        var evidence = NetworkEvidence(target: target.hostText, path: path)
        evidence.candidates = candidates
        evidence.quorums = quorums
        evidence.families = families
        evidence.resolver = resolver
        evidence.rule = rule
        evidence.route = route
        evidence.passedOver = route == nil ? passedOver : nil
        evidence.links = links
        evidence.neighbour = neighbour
        evidence.steps = steps
        return evidence
    }
}

extension Target {
    /// The host as text; nil for the network at large.
    fileprivate var hostText: String? {
        if case .atLarge = destination { nil } else { description }
    }
}
