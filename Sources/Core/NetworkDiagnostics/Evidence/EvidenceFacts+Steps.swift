import LinuxSupport
import Netlink
import NetworkReachability

extension EvidenceFacts {
    /// The chain: what holds, where it breaks, and what would mend it.
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

    /// The resolver has a chain of its own, which explains the name and decides nothing by itself.
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

    /// Where the reason of the verdict belongs; nil when there is none.
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

    /// Whether the address says nothing without a link that is not there, or that is not named.
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
