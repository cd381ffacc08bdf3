import LinuxSupport
import Netlink
import NetworkReachability

extension EvidenceFacts {
    /// What a step found, in a few words.
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
