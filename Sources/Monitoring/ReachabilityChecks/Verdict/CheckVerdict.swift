import LinuxSupport

/// The verdict of a check.
public struct CheckVerdict: Hashable, Sendable {
    /// The place of the fault.
    public var failurePoint: CheckPlace
    /// The reason, as a stable word.
    public var reason: ProbeReason
    /// The confidence of the verdict.
    public var confidence: CheckConfidence
    /// The verdict as one sentence. Control characters are escaped.
    public var text: String
    /// Observations that do not affect the verdict: values of ``ProbeReason`` and other fixed words.
    public var notes: [String]
    /// The results that decided the verdict.
    var evidence: [ProbeResult]

    init(_ finding: Finding, notes: [String] = []) {
        failurePoint = finding.place
        reason = finding.reason
        confidence = finding.confidence
        text = finding.text.printable
        self.notes = notes
        evidence = finding.evidence
    }
}

/// The finding of one stage.
struct Finding: Hashable, Sendable {
    var place: CheckPlace
    var reason: ProbeReason
    var confidence: CheckConfidence
    var text: String
    var evidence: [ProbeResult]
    /// Whether packets pass beyond the place. Findings about farther places then have priority.
    var isOpen = false

    init(
        _ place: CheckPlace,
        _ reason: ProbeReason,
        _ confidence: CheckConfidence,
        _ text: String,
        _ evidence: [ProbeResult] = []
    ) {
        self.place = place
        self.reason = reason
        self.confidence = confidence
        self.text = text
        self.evidence = evidence
    }
}

/// The place of a fault, or the result that there is no fault.
public enum CheckPlace: String, Hashable, Sendable, CaseIterable, Codable {
    case works, degraded, inconclusive, thisMachine, link, gateway, upstream, portal, dns, host, tls, service

    /// The exit status of `reachability check`.
    public var exitCode: Int32 {
        switch self {
        case .works: 0
        case .inconclusive: 2
        case .degraded: 3
        case .thisMachine: 10
        case .link: 11
        case .gateway: 12
        case .upstream: 13
        case .dns: 14
        case .portal: 15
        case .host: 16
        case .tls: 17
        case .service: 18
        }
    }

    /// The distance from this machine that packets reach. Additional answers never make it smaller.
    package var distance: Int {
        switch self {
        case .thisMachine: 0
        case .link: 1
        case .gateway: 2
        case .upstream: 3
        case .portal: 4
        case .dns: 5
        case .host: 6
        case .tls: 7
        case .service: 8
        case .inconclusive: 9
        case .degraded: 10
        case .works: 11
        }
    }
}

/// The confidence of a verdict.
public enum CheckConfidence: String, Hashable, Sendable, CaseIterable, Comparable, Codable {
    /// The likeliest of several explanations, or a probe could not be sent.
    case suspected
    /// A conclusion from silence, which may have other causes.
    case likely
    /// Reported by a host or router.
    case proven

    private var rank: Int { self == .suspected ? 0 : self == .likely ? 1 : 2 }

    /// Returns whether the first confidence is lower.
    public static func < (one: CheckConfidence, other: CheckConfidence) -> Bool { one.rank < other.rank }
}
