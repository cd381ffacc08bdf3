import LinuxSupport

/// The one answer of a check.
public struct CheckVerdict: Hashable, Sendable {
    /// Where it breaks.
    public var place: CheckPlace
    /// Why, as a stable word.
    public var reason: ProbeReason
    /// How sure that is.
    public var confidence: CheckConfidence
    /// One sentence for people, safe to print.
    public var text: String
    /// What else was seen, and decides nothing: words of ``ProbeReason`` and names.
    public var notes: [String]
    /// What decided.
    package var evidence: [ProbeResult]

    init(_ finding: Finding, notes: [String] = []) {
        place = finding.place
        reason = finding.reason
        confidence = finding.confidence
        text = finding.text.printable
        self.notes = notes
        evidence = finding.evidence
    }
}

/// What one stage of the judgement says.
struct Finding: Hashable, Sendable {
    var place: CheckPlace
    var reason: ProbeReason
    var confidence: CheckConfidence
    var text: String
    var evidence: [ProbeResult]
    /// Whether packets get further than where it breaks: what else is known decides first.
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
