/// An unbroken time in which the state of a target did not change. Its end is exclusive: the intervals of a target follow each other
/// without a gap and without an overlap, so what they account for adds up to the time observed, exactly.
public struct LedgerInterval: Hashable, Sendable {
    /// What was so.
    public var state: TargetState
    /// When it began.
    public let start: LedgerInstant
    /// How much earlier it may have begun: a change that a check found lies between the last good and the first bad check. Zero for
    /// what the kernel told.
    public let uncertainty: Duration
    /// When it ended; nil while it lasts.
    public var end: LedgerInstant?
    /// The words of the evidence: the kernel's reason or the check's, for example `noCarrier`. Nil while the target is up and not degraded.
    public var reason: String?

    /// - Parameters:
    ///   - state: What was so.
    ///   - start: When it began.
    ///   - uncertainty: How much earlier it may have begun.
    ///   - end: When it ended; nil while it lasts.
    ///   - reason: The words of the evidence.
    public init(
        _ state: TargetState,
        from start: LedgerInstant,
        uncertainty: Duration = .zero,
        to end: LedgerInstant? = nil,
        reason: String? = nil
    ) {
        self.state = state
        self.start = start
        self.uncertainty = uncertainty
        self.end = end
        self.reason = reason
    }

    /// How long it was; until `now` while it lasts.
    public func duration(at now: LedgerInstant) -> Duration { max(start, end ?? now) - start }
}
