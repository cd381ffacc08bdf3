import LinuxSupport

/// The verdict of a check.
public struct CheckVerdict: Hashable, Sendable {
    /// The place of the fault.
    public var place: CheckPlace
    /// The reason, as a stable word.
    public var reason: ProbeReason
    /// The confidence.
    public var confidence: CheckConfidence
    /// One sentence for people, safe to print.
    public var text: String
    /// Observations that do not decide: words of ``ProbeReason`` and names.
    public var notes: [String]
    /// The results that decided.
    var evidence: [ProbeResult]

    init(_ finding: Finding, notes: [String] = []) {
        place = finding.place
        reason = finding.reason
        confidence = finding.confidence
        text = finding.text.printable
        self.notes = notes
        evidence = finding.evidence
    }
}

/// The finding of one stage of the judgement.
struct Finding: Hashable, Sendable {
    var place: CheckPlace
    var reason: ProbeReason
    var confidence: CheckConfidence
    var text: String
    var evidence: [ProbeResult]
    /// Whether packets get beyond the place, so that other findings decide first.
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

/// The place of a fault, or that there is none.
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

    /// How far packets get from this machine. An answer never makes it smaller.
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
    /// Concluded from silence, which may have other causes.
    case likely
    /// Reported by a host or router.
    case proven

    private var rank: Int { self == .suspected ? 0 : self == .likely ? 1 : 2 }

    /// Whether `one` is less certain.
    public static func < (one: CheckConfidence, other: CheckConfidence) -> Bool { one.rank < other.rank }
}
