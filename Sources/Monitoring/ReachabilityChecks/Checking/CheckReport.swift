public import NetworkReachability

/// What a check found.
public struct CheckReport: Sendable {
    /// As the user wrote it; nil for the internet.
    public let target: String?
    /// The kernel's path to the target, or to the network at large.
    public let path: NetworkPath
    /// Where it breaks, and why.
    public let verdict: CheckVerdict
    /// What was sent and received, all together.
    public let cost: ProbeCost
    /// How long it took.
    public let duration: Duration
    package let probes: [ProbeResult]
    package let evidence: CheckEvidence
    /// How the kernel was asked for the path.
    package let pathOptions: NetworkReachabilityOptions
    /// Whether the network changed meanwhile, and the kernel still has a path.
    let isVoid: Bool

    init(_ evidence: CheckEvidence, of site: CheckSite, begun: ContinuousClock.Instant) {
        let now = site.pathNow(to: evidence.path, isTarget: evidence.target != nil)
        self.init(evidence, now: now, of: site, begun: begun)
    }

    /// - Parameter now: what has become of the path meanwhile; nil where the kernel does not say.
    init(_ evidence: CheckEvidence, now: NetworkPath?, of site: CheckSite, begun: ContinuousClock.Instant) {
        var evidence = evidence
        let hasChanged = now.map { !$0.leads(as: evidence.path) } ?? false
        if let now, hasChanged {
            evidence.path = now
            evidence.generation += 1
        }
        isVoid = hasChanged && evidence.path.status.isReachable
        self.evidence = evidence
        pathOptions = site.pathOptions
        target = evidence.target?.text
        path = evidence.path
        verdict = CheckJudge.judge(evidence)
        probes = evidence.results
        cost = evidence.results.reduce(ProbeCost()) { $0 + $1.cost }
        duration = .now - begun
    }
}

extension NetworkPath {
    /// Whether packets take the same way.
    func leads(as other: NetworkPath) -> Bool {
        status == other.status && interface == other.interface && gateway == other.gateway && source == other.source
    }
}

/// One link of the chain behind the kernel's: what a check found there.
public struct CheckStep: Hashable, Sendable {
    /// What a step is about, near to far. The raw value is the name in JSON output.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case gateway, hop, dns, anchor, portal, host, tls, service, verdict
    }

    /// How a step stands. The raw value is the name in JSON output.
    public enum State: String, Hashable, Sendable, CaseIterable {
        case ok, broken, notReached, informational
    }

    /// What it is about.
    public var kind: Kind
    /// How it stands; at most one step before the verdict is broken.
    public var state: State
    /// What was found, in a few words for people, safe to print.
    public var summary: String
}
