import LinuxSupport
import Netlink
import NetworkReachability

/// The facts about a target, before their interpretation.
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
    /// The error of the last lookup.
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

    /// Whether the name is the obstacle: its servers are reachable, or they have denied it.
    var isNameBroken: Bool { path.reason == .nameNotResolved || path.reason == .resolving }

    /// The link that stands in the way: the lowest that does.
    var culprit: NetworkEvidence.Link? { links.last { $0.obstacle != nil } ?? links.first }

    /// The first tunnel of which the far end is known.
    var tunnel: NetworkEvidence.Link? { links.first { $0.tunnelRemote != nil } }

    /// Whether this machine's own addresses are foreign to it, for the loopback device is down.
    var isLoopbackDown: Bool { obstacle?.cause == .linkDown && decisive?.wire.isLoopback == true }

    /// Whether the first link runs over this one.
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

    /// The resolver has a separate chain, which explains the name and decides nothing.
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
        case .atLarge: kinds.append(.quorum)
        case .address: break
        }
        return kinds + [.address, .rule, .route, .link, .neighbour, .source, .verdict]
    }

    private var isKernelUnavailable: Bool {
        path.reason == .netlinkUnavailable || path.reason == .namespaceGone
    }

    /// The step of the reason of the verdict; nil if there is none.
    var brokenKind: NetworkEvidence.Step.Kind? {
        guard let reason = path.reason else { return nil }
        if isKernelUnavailable { return .kernel }
        if isNameBroken { return .name }
        if reason == .noInterface, isAddressMeaningless { return .address }
        // The far end of a tunnel has the reason, and this chain breaks at the tunnel.
        if obstacle?.isBelow == true { return .link }
        switch Verdict.Cause(reason)?.subject {
        case .link: return .link
        case .source: return .source
        case .route, nil: return ruleRefused ? .rule : .route
        }
    }

    /// Whether the address requires a link that does not exist or is not named.
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
    /// The finding of a step, in a few words.
    func summary(of kind: NetworkEvidence.Step.Kind) -> String {
        switch kind {
        case .kernel: kernelFailure?.description ?? "\(path.reason?.description ?? "")"
        case .resolver, .server: ""
        case .name: nameSummary
        case .quorum:
            quorums.isEmpty ? "not held" : quorums.map { "\($0), \($0.needed) needed" }.joined(separator: "; ")
        case .address: addressSummary
        case .rule: rule?.description ?? (route == nil ? "no rule led to a route" : "not told by the kernel")
        case .route: routeSummary
        case .link: linkSummary
        case .neighbour: neighbour?.description ?? (needsNeighbour ? "not told by the kernel" : "none needed")
        case .source: sourceSummary
        case .verdict: "\(path.status)"
        }
    }

    private var nameSummary: String {
        if isAboutServers { return "\(target): not known, for its name servers cannot be reached" }
        let isExplained = resolver?.servers.contains { $0.answer != nil } ?? false
        if path.reason == .resolving, !isExplained { return "\(target): no answer yet" }
        switch nameFailure {
        case .noSuchName?, .noAddress?:
            // getaddrinfo(3) says so of some answers that mean something else.
            if let unclearServer { return "\(target): not known, for \(unclearServer) did not say" }
            return "\(target): there is no such name, or it has no address"
        case .unavailable(let text)?: return "\(target): the name service cannot be asked: \(text)"
        case nil: break
        }
        if isNameBroken, let family, path.reason == .nameNotResolved {
            return "\(target): it has no \(family == .ipv6 ? "IPv6" : "IPv4") address"
        }
        guard !candidates.isEmpty else { return "\(target): no address" }
        // Names of large services have very many.
        let shown = candidates.prefix(8).map { "\($0.address) \($0.reason?.description ?? "reachable")" }
        let rest = candidates.count > 8 ? ["\(candidates.count - 8) more"] : []
        return "\(target): \((shown + rest).joined(separator: "; "))"
    }

    /// The first server that was asked, if it answered something else than that there is no such name.
    private var unclearServer: String? {
        let asked = resolver?.servers.first { $0.reason == nil && $0.answer != nil }
        return asked.flatMap { $0.deniesName || $0.answer == "silence" ? nil : "\($0.address)" }
    }

    private var addressSummary: String {
        guard let decisive else { return isAboutServers ? "none: no name server is configured" : "none" }
        if isAboutServers { return "\(decisive), the name server, stands for the name" }
        if let missingZone { return "\(decisive): there is no interface \(missingZone)" }
        switch target.destination {
        case .atLarge: return "\(decisive) stands for the others"
        case .name where candidates.count > 1: return "\(decisive) decides"
        case .name, .address: return "\(decisive)"
        }
    }

    private var routeSummary: String {
        if let route { return route.description }
        guard !isExplainedByLinks else { return "none: routes go with their links" }
        switch path.reason {
        case .unreachable?: return "a route of type unreachable covers \(subject)"
        case .prohibited?: return "a route of type prohibit covers \(subject)"
        case .blackholed?: return "a route of type blackhole covers \(subject)"
        case .noRoute?, .linkDown?, .noInterface?:
            let names = tables.map(NetworkEvidence.name(ofTable:))
            let why = (passedOver?.summary ?? ipv6Trouble?.summary).map { "; \($0)" } ?? ""
            return "none to \(subject)" + (names.isEmpty ? "" : " in the tables \(names.joined(separator: ", "))") + why
        default: return refusal.map { "the lookup was refused: \($0)" } ?? "none"
        }
    }

    private var linkSummary: String {
        guard !links.isEmpty else {
            return obstacle?.cause == .noInterface ? "none but the loopback" : "not told by the kernel"
        }
        let first = links.prefix(4).map(\.description)
        guard obstacle?.link != nil || path.status.isReachable || links.count == 1 else {
            return (first + (links.count > 4 ? ["\(links.count - 4) more"] : [])).joined(separator: "; ")
        }
        var text = links.map(\.description).joined(separator: ", over ")
        if path.reason == .discarded {
            text += "; it throws away what is sent through it"
        } else if obstacle?.isBelow == true, !isLowerToBlame, let reason = path.reason {
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
        let why = ipv6Trouble.map { "; \($0.summary)" } ?? ""
        guard let source, !source.isUnspecified else { return "none" + why }
        if source.isLoopback { return "only \(source), which is good for this machine alone" + why }
        return "only \(source), which is good on its link alone" + why
    }

    /// Where packets are to go.
    var subject: String { decisive?.description ?? target.description }
}
