import LinuxSupport
public import NetworkReachability

/// The report of a check of one target.
public struct CheckReport: Sendable {
    /// The target as given by the user; nil for the internet.
    public let target: String?
    /// The kernel's path to the target, or to the network at large.
    public let path: NetworkPath
    /// The verdict: the place of the fault, and the reason.
    public let verdict: CheckVerdict
    /// The cost of all probes.
    public let cost: ProbeCost
    /// The duration of the check.
    public let duration: Duration
    let probes: [ProbeResult]
    let evidence: CheckEvidence
    /// The options of the path.
    package let pathOptions: NetworkReachabilityOptions
    /// True if the path changed during the check and still exists. The report is then not reliable.
    let isVoid: Bool

    init(_ evidence: CheckEvidence, of site: CheckSite, begun: ContinuousClock.Instant) {
        let now = site.pathNow(to: evidence.path, isTarget: evidence.target != nil)
        self.init(evidence, now: now, of: site, begun: begun)
    }

    /// - Parameter now: The current path; nil if the kernel does not report it.
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
    /// Returns whether packets leave through the same interface and gateway with the same source.
    func leads(as other: NetworkPath) -> Bool {
        status == other.status && interface == other.interface && gateway == other.gateway && source == other.source
    }
}

/// One step of a report.
public struct CheckStep: Hashable, Sendable {
    /// The subject of a step, from near to far. The raw value is the name in JSON output.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case gateway, hop, dns, anchor, portal, host, tls, service, verdict
    }

    /// The state of a step. The raw value is the name in JSON output.
    public enum State: String, Hashable, Sendable, CaseIterable {
        case ok, broken, notReached, informational
    }

    /// The subject.
    public var kind: Kind
    /// The state. At most one step before the verdict is broken.
    public var state: State
    /// The result as a short text. Control characters are escaped.
    public var summary: String
}

extension CheckReport {
    /// The steps from near to far, and then the verdict. A step without a probe is omitted.
    public var steps: [CheckStep] {
        var steps: [CheckStep] = []
        for family in AddressFamily.allCases {
            let view = FamilyView(family, evidence)
            guard !view.results.isEmpty else { continue }
            steps += gateway(view)
            steps += hop(view)
        }
        steps += servers
        steps += anchors
        steps += portal
        steps += targetSteps
        // The step at the place of the fault is marked as broken.
        if let kind = CheckStep.Kind(verdict.failurePoint) {
            let broken = steps.firstIndex { $0.kind == kind && $0.state != .ok } ?? steps.firstIndex { $0.kind == kind }
            if let broken { steps[broken].state = .broken }
        }
        steps.append(summary)
        return steps
    }

    private var summary: CheckStep {
        let state: CheckStep.State =
            switch verdict.failurePoint {
            case .works: .ok
            case .degraded, .inconclusive: .informational
            default: .broken
            }
        let seconds = duration.tenths
        let packets = "\(cost.packets) packet\(cost.packets == 1 ? "" : "s")"
        let text =
            "\(verdict.failurePoint.rawValue): \(verdict.text), \(verdict.confidence.rawValue) (\(seconds) s, \(packets))"
        return CheckStep(kind: .verdict, state: state, summary: text)
    }

    private func step(_ kind: CheckStep.Kind, _ isGood: Bool, _ text: String) -> CheckStep {
        CheckStep(kind: kind, state: isGood ? .ok : .informational, summary: text.printable)
    }

    // MARK: The line

    private func gateway(_ view: FamilyView) -> [CheckStep] {
        guard let gateway = view.gateway, view.results.contains(where: { $0.kind == .gateway }) else { return [] }
        let life = view.gatewayLife
        if let first = life.first { return [step(.gateway, true, "\(gateway) answers\(first.time)")] }
        return [step(.gateway, false, "\(gateway) is silent")]
    }

    private func hop(_ view: FamilyView) -> [CheckStep] {
        view.results.filter { $0.kind == .hop }.map { result in
            if result.outcome == .answered, let source = result.evidence.source {
                return step(.hop, true, "\(source) answers\(result.time)")
            }
            return step(.hop, false, "\(result.words) on the way to \(result.place)")
        }
    }

    // MARK: Names

    private var servers: [CheckStep] {
        var steps: [CheckStep] = []
        var seen: [IPAddress] = []
        for result in probes where result.kind == .dns {
            guard let server = result.server, let purpose = result.purpose, result.outcome != .cancelled else {
                continue
            }
            let fault = NamesStage.fault(result)
            switch purpose {
            case .known:
                if seen.contains(server) { continue }
                seen.append(server)
                let words = fault?.rawValue ?? result.words
                steps.append(step(.dns, fault == nil && result.ran, "\(server) \(words)\(result.time)"))
            case .invented:
                guard let address = result.evidence.dns?.addresses.first else { continue }
                steps.append(step(.dns, false, "\(server) returns \(address) for a name that does not exist"))
            case .target, .expected:
                guard let facts = result.evidence.dns, let name = purpose.name ?? evidence.target?.name else {
                    continue
                }
                let addresses = facts.addresses.map(\.description).joined(separator: ", ")
                let words = fault?.rawValue ?? (facts.code == .nameError ? "no such name" : "no address")
                steps.append(
                    step(.dns, !addresses.isEmpty, "\(server): \(name) \(addresses.isEmpty ? words : addresses)")
                )
            }
        }
        return steps
    }

    // MARK: The internet

    private var anchors: [CheckStep] {
        probes.filter { $0.isAnchor && $0.kind != .mtu }.map { result in
            guard case .anchor(let host) = result.request.subject else { return step(.anchor, false, "") }
            let proof = result.isVerified ? "TLS verified" : result.isEchoed ? "challenge answered" : nil
            return step(.anchor, proof != nil, "\(host) at \(result.place): \(proof ?? result.words)\(result.time)")
        }
    }

    private var portal: [CheckStep] {
        let announced = probes.first { $0.evidence.portal != nil }
        // A page at the address of a name that does not exist counts only if the verdict is a portal.
        let signs = probes.filter {
            $0.looksCaptive && ($0.request.subject != .inventedAddress || verdict.failurePoint == .portal)
        }
        if signs.isEmpty, announced == nil {
            let asked = probes.filter { $0.request.subject == .unassigned && $0.outcome != .cancelled }
            guard let first = asked.first else { return [] }
            let isSilent = asked.contains(where: \.ran)
            return [step(.portal, isSilent, isSilent ? "no device answers in place of other hosts" : first.words)]
        }
        let captive = announced?.evidence.portal?.isCaptive == true
        let url = announced?.evidence.portal?.userPortalURL ?? signs.lazy.compactMap(\.evidence.http?.location).first
        let text =
            captive || signs.isEmpty
            ? "the captive portal API reports that \(captive ? "a" : "no") login is required"
            : "a device answers in place of other hosts"
        return [step(.portal, !captive && signs.isEmpty, text + (url.map { ": \($0)" } ?? ""))]
    }

    // MARK: The target

    private var targetSteps: [CheckStep] {
        probes.filter { $0.isTarget && $0.kind != .mtu && $0.kind != .resolve && $0.ran }.map { result in
            let kind: CheckStep.Kind =
                result.kind == .tls ? .tls : result.peerAnswered && result.outcome != .answered ? .service : .host
            return step(kind, result.outcome == .answered, "\(result.place) \(result.words)\(result.time)")
        }
    }
}

extension CheckStep.Kind {
    /// Creates the kind of the step for a place. Returns nil for places that the steps of the kernel contain.
    fileprivate init?(_ place: CheckPlace) {
        switch place {
        case .gateway: self = .gateway
        case .upstream: self = .hop
        case .dns: self = .dns
        case .portal: self = .portal
        case .host: self = .host
        case .tls: self = .tls
        case .service: self = .service
        case .works, .degraded, .inconclusive, .thisMachine, .link: return nil
        }
    }
}

extension ProbeResult {
    /// The destination of the probe as text.
    fileprivate var place: String {
        guard let destination = request.destination else { return "this machine" }
        guard let port = request.port, kind != .hop else { return "\(destination)" }
        return "\(destination.urlText):\(port)"
    }

    /// The outcome as a short text.
    fileprivate var words: String {
        switch outcome {
        case .answered:
            let http = evidence.http.map { " \($0.status)" + ($0.finalURL.map { " at \($0)" } ?? "") }
            return "answers" + (http ?? evidence.ssh?.words ?? evidence.ntp?.words ?? "")
        case .refused: return "refuses the connection"
        case .unreachable(let error): return "\(error.sender) reports \(error.reason.rawValue)"
        case .blockedHere(let number): return "not sent by this machine: \(ProbeReason(refusal: number).refusal)"
        case .silent: return phases[.connect] == nil ? "silent" : "accepts the connection and sends nothing"
        case .invalid(let reason):
            return reason.rawValue
                + ((evidence.detail ?? evidence.http.map { "\($0.status)" }).map { " (\($0))" } ?? "")
        case .skipped(let reason): return "not sent: \(reason.rawValue)"
        case .cancelled: return "cancelled"
        }
    }

    /// The duration in parentheses; empty without an answer.
    fileprivate var time: String {
        guard outcome == .answered, let time = evidence.kernelRoundTrip ?? evidence.firstAnswer ?? phases.values.max()
        else { return "" }
        return " (\(time.milliseconds) ms)"
    }
}

extension SSHFacts {
    fileprivate var words: String { " \(identification)\(isVerified ? ", with the expected host key" : "")" }
}

extension NTPFacts {
    fileprivate var words: String {
        let offset = offset.map {
            $0 < .zero ? ", \((.zero - $0).milliseconds) ms behind" : ", \($0.milliseconds) ms ahead"
        }
        return ", stratum \(stratum)\(offset ?? "")"
    }
}

extension Duration {
    /// The duration in milliseconds, with two decimals below 10 ms.
    fileprivate var milliseconds: String {
        let hundredths = components.seconds * 100_000 + components.attoseconds / 10_000_000_000_000
        if hundredths >= 1000 { return "\(hundredths / 100)" }
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
    }

    /// The duration in seconds, with two decimals.
    fileprivate var tenths: String {
        let hundredths = components.seconds * 100 + components.attoseconds / 10_000_000_000_000_000
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
    }
}

extension NamePurpose {
    fileprivate var name: String? { if case .expected(let name) = self { name } else { nil } }
}
