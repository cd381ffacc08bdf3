import LinuxSupport
import Netlink
import NetworkReachability

/// The facts about a target, before their interpretation.
struct EvidenceFacts {
    let target: Target
    /// The verdict. All other properties explain it.
    var path: NetworkPath
    var candidates: [NetworkEvidence.Candidate] = []
    var quorums: [NetworkEvidence.Quorum] = []

    /// The family that is explained; nil for both.
    var family: AddressFamily?
    /// The resolution of the name.
    var resolver: NetworkEvidence.Resolver?
    /// A Boolean value that indicates whether all steps after the name are about its name servers, because the name has
    /// no address and the servers are not reachable.
    var isAboutServers = false
    /// The name server that determines the result in that case.
    var server: IPAddress?
    /// The reason why a name has no address.
    var nameFailure: NameLookup.Failure?
    /// The reason why the kernel cannot be queried.
    var kernelFailure: NetlinkError?

    /// The obstacle for packets to the address that determines the path.
    var obstacle: Verdict.Obstacle?
    /// A Boolean value that indicates whether the state of the links explains that there is no route.
    var isExplainedByLinks = false
    /// The zone of the address, if no link has that name.
    var missingZone: String?
    /// The error of the last lookup.
    var refusal: SystemError?
    var rule: NetworkEvidence.Rule?
    /// A Boolean value that indicates whether `rule` itself rejects the packets.
    var ruleRefused = false
    /// A Boolean value that indicates whether `route` itself rejects the packets.
    var isRouteRefusing = false
    /// A Boolean value that indicates whether the rejection may be intended to block packets outside a VPN.
    var mayBeKillSwitch = false
    /// The route that would be usable if the kernel selected it.
    var unusedRoute: NetworkEvidence.PassedOver?
    /// The obstacle for IPv6 on the link.
    var ipv6Obstacle: IPv6Obstacle?
    /// The tables that were looked up.
    var tables: [UInt32] = []
    var route: NetworkEvidence.Route?
    var links: [NetworkEvidence.Link] = []
    var neighbour: NetworkEvidence.Neighbour?
    /// A Boolean value that indicates whether the kernel must resolve the link-layer address of a neighbour.
    var needsNeighbour = false
    /// The source address that the kernel would select, usable or not.
    var source: WireAddress?

    init(_ target: Target, _ path: NetworkPath) {
        self.target = target
        self.path = path
    }

    /// The address that determines the path.
    var decisive: IPAddress? { server ?? path.destination ?? candidates.first(where: \.isDeciding)?.address }

    /// A Boolean value that indicates whether the name is the obstacle: its servers are reachable, or they have denied
    /// the name.
    var isNameBroken: Bool { path.reason == .nameNotResolved || path.reason == .resolving }

    /// The lowest link that is an obstacle; otherwise the first link.
    var brokenLink: NetworkEvidence.Link? { links.last { $0.obstacle != nil } ?? links.first }

    /// The first tunnel whose far end is known.
    var tunnel: NetworkEvidence.Link? { links.first { $0.tunnelRemote != nil } }

    /// A Boolean value that indicates whether the addresses of this machine are not local, because the loopback device
    /// is down.
    var isLoopbackDown: Bool { obstacle?.cause == .linkDown && decisive?.wire.isLoopback == true }

    /// A Boolean value that indicates whether a lower link of the first link is an obstacle.
    var isLowerLinkObstacle: Bool { links.dropFirst().contains { $0.obstacle != nil } }

    /// The evidence, with the chain of steps.
    var evidence: NetworkEvidence {
        var evidence = NetworkEvidence(target: target.hostText, path: path)
        evidence.candidates = candidates
        evidence.quorums = quorums
        evidence.families = families
        evidence.resolver = resolver
        evidence.rule = rule
        evidence.route = route
        evidence.passedOver = route == nil ? unusedRoute : nil
        evidence.links = links
        evidence.neighbour = neighbour
        evidence.steps = steps
        return evidence
    }
}

extension Target {
    /// The host as text; nil for general reachability.
    fileprivate var hostText: String? {
        if case .general = destination { nil } else { description }
    }
}

extension EvidenceFacts {
    /// The chain of steps, with the first broken step and its remedy.
    var steps: [NetworkEvidence.Step] {
        let broken = brokenKind
        var isReached = true
        return resolverSteps
            + kinds.map { kind in
                if kind == .verdict { return NetworkEvidence.Step(kind: kind, state: verdictState, summary: verdict) }
                guard isReached else {
                    return NetworkEvidence.Step(kind: kind, state: .notReached, summary: "not reached")
                }
                if kind == broken {
                    isReached = false
                    return NetworkEvidence.Step(kind: kind, state: .broken, summary: summary(of: kind), remedy: remedy)
                }
                return NetworkEvidence.Step(kind: kind, state: state(of: kind), summary: summary(of: kind))
            }
    }

    /// The steps of the resolver. They explain the name, and do not influence the verdict.
    private var resolverSteps: [NetworkEvidence.Step] {
        guard let resolver, !isKernelUnavailable else { return [] }
        let first = NetworkEvidence.Step(kind: .resolver, state: .ok, summary: resolver.summary)
        return [first]
            + resolver.servers.map { server in
                let isGood = server.reason == nil && (server.answer == nil || server.deniesName)
                return NetworkEvidence.Step(
                    kind: .server,
                    state: isGood ? .ok : .informational,
                    summary: server.description
                )
            }
    }

    private var kinds: [NetworkEvidence.Step.Kind] {
        var kinds: [NetworkEvidence.Step.Kind] = isKernelUnavailable ? [.kernel] : []
        switch target.destination {
        case .name: kinds.append(.name)
        case .general: kinds.append(.quorum)
        case .address: break
        }
        return kinds + [.address, .rule, .route, .link, .neighbour, .source, .verdict]
    }

    private var isKernelUnavailable: Bool {
        path.reason == .netlinkUnavailable || path.reason == .namespaceGone
    }

    /// The step that contains the reason of the verdict; nil if the target is reachable.
    var brokenKind: NetworkEvidence.Step.Kind? {
        guard let reason = path.reason else { return nil }
        if isKernelUnavailable { return .kernel }
        if isNameBroken { return .name }
        if reason == .noInterface, isAddressMeaningless { return .address }
        // The reason is at the far end of a tunnel. This chain breaks at the tunnel.
        if obstacle?.isBelow == true { return .link }
        switch Verdict.Cause(reason)?.subject {
        case .link: return .link
        case .source: return .source
        case .route, nil: return ruleRefused ? .rule : .route
        }
    }

    /// A Boolean value that indicates whether the address requires a link that does not exist or is not named.
    private var isAddressMeaningless: Bool {
        missingZone != nil || decisive.map { $0.isIPv6 && $0.isLinkLocal && $0.zone == nil } ?? false
    }

    private func state(of kind: NetworkEvidence.Step.Kind) -> NetworkEvidence.Step.State {
        switch kind {
        case .name where isAboutServers: .informational
        case .quorum: quorums.contains(where: \.isReached) ? .ok : .informational
        case .rule: rule == nil ? .informational : .ok
        case .route: route == nil ? .informational : .ok
        case .neighbour:
            switch neighbour?.state {
            case .reachable, .permanent, .noarp: .ok
            default: .informational
            }
        case .kernel, .resolver, .server, .name, .address, .link, .source, .verdict: .ok
        }
    }

    private var verdictState: NetworkEvidence.Step.State { path.status.isReachable ? .ok : .broken }

    private var verdict: String {
        [path.status.description, path.reason?.description, familyNote].compactMap(\.self).joined(separator: ", ")
    }
}

extension EvidenceFacts {
    /// Returns the finding of a step in a short text.
    func summary(of kind: NetworkEvidence.Step.Kind) -> String {
        switch kind {
        case .kernel: kernelFailure?.description ?? "\(path.reason?.description ?? "")"
        case .resolver, .server: ""
        case .name: nameSummary
        case .quorum:
            quorums.isEmpty ? "not evaluated" : quorums.map { "\($0), \($0.needed) needed" }.joined(separator: "; ")
        case .address: addressSummary
        case .rule: rule?.description ?? (route == nil ? "no rule led to a route" : "not reported by the kernel")
        case .route: routeSummary
        case .link: linkSummary
        case .neighbour: neighbour?.description ?? (needsNeighbour ? "not reported by the kernel" : "none needed")
        case .source: sourceSummary
        case .verdict: "\(path.status)"
        }
    }

    private var nameSummary: String {
        if isAboutServers { return "\(target): unknown, because its name servers cannot be reached" }
        let isExplained = resolver?.servers.contains { $0.answer != nil } ?? false
        if path.reason == .resolving, !isExplained { return "\(target): no answer yet" }
        switch nameFailure {
        case .noSuchName?, .noAddress?:
            // getaddrinfo(3) also returns this error for some answers with another meaning.
            if let unclearServer { return "\(target): unknown, because \(unclearServer) gave no clear answer" }
            return "\(target): the name does not exist, or has no address"
        case .unavailable(let text)?: return "\(target): the name service cannot be queried: \(text)"
        case nil: break
        }
        if isNameBroken, let family, path.reason == .nameNotResolved {
            return "\(target): the name has no \(family == .ipv6 ? "IPv6" : "IPv4") address"
        }
        guard !candidates.isEmpty else { return "\(target): no address" }
        // Names of large services have many addresses.
        let shown = candidates.prefix(8).map { "\($0.address) \($0.reason?.description ?? "reachable")" }
        let rest = candidates.count > 8 ? ["\(candidates.count - 8) more"] : []
        return "\(target): \((shown + rest).joined(separator: "; "))"
    }

    /// The first queried server, if its answer is not that the name does not exist.
    private var unclearServer: String? {
        let asked = resolver?.servers.first { $0.reason == nil && $0.answer != nil }
        return asked.flatMap { $0.deniesName || $0.answer == "silence" ? nil : "\($0.address)" }
    }

    private var addressSummary: String {
        guard let decisive else { return isAboutServers ? "none: no name server is configured" : "none" }
        if isAboutServers { return "\(decisive), the name server, is evaluated instead of the name" }
        if let missingZone { return "\(decisive): there is no interface \(missingZone)" }
        switch target.destination {
        case .general: return "\(decisive) represents the others"
        case .name where candidates.count > 1: return "\(decisive) decides"
        case .name, .address: return "\(decisive)"
        }
    }

    private var routeSummary: String {
        if let route { return route.description }
        guard !isExplainedByLinks else { return "none: the routes were removed with their links" }
        switch path.reason {
        case .unreachable?: return "a route of type unreachable covers \(subject)"
        case .prohibited?: return "a route of type prohibit covers \(subject)"
        case .blackholed?: return "a route of type blackhole covers \(subject)"
        case .noRoute?, .linkDown?, .noInterface?:
            let names = tables.map(NetworkEvidence.name(ofTable:))
            let why = (unusedRoute?.summary ?? ipv6Obstacle?.summary).map { "; \($0)" } ?? ""
            return "none to \(subject)" + (names.isEmpty ? "" : " in the tables \(names.joined(separator: ", "))") + why
        default: return refusal.map { "the lookup failed: \($0)" } ?? "none"
        }
    }

    private var linkSummary: String {
        guard !links.isEmpty else {
            return obstacle?.cause == .noInterface ? "none except the loopback" : "not reported by the kernel"
        }
        let first = links.prefix(4).map(\.description)
        guard obstacle?.link != nil || path.status.isReachable || links.count == 1 else {
            return (first + (links.count > 4 ? ["\(links.count - 4) more"] : [])).joined(separator: "; ")
        }
        var text = links.map(\.description).joined(separator: ", over ")
        if path.reason == .discarded {
            text += "; it discards all packets"
        } else if obstacle?.isBelow == true, !isLowerLinkObstacle, let reason = path.reason {
            text += "; " + (tunnel?.tunnelRemote.map { "its far end \($0): \(reason)" } ?? "\(reason) below")
        } else if obstacle == nil, let hiding = links.first(where: \.hidesFarEnd) {
            text += "; the far end of \(hiding.interface.name) is not known"
            if hiding.kind == "wireguard" { text += " without CAP_NET_ADMIN" }
        }
        return text
    }

    private var sourceSummary: String {
        guard path.reason == .noSourceAddress else {
            return (path.source?.description ?? source?.description) ?? "none"
        }
        let why = ipv6Obstacle.map { "; \($0.summary)" } ?? ""
        guard let source, !source.isUnspecified else { return "none" + why }
        if source.isLoopback { return "only \(source), which is valid only on this machine" + why }
        return "only \(source), which is valid only on its link" + why
    }

    /// The destination of the packets as text.
    var subject: String { decisive?.description ?? target.description }
}
