/// The ledger of one target: takes what is so of it, and says what that means. A value; it reads no clock and keeps no history but
/// the interval and the outage that last.
public struct TargetLedger: Sendable {
    /// What became of the ledger.
    public enum Event: Hashable, Sendable {
        /// An interval is over, and final.
        case closed(LedgerInterval)
        /// The next began where that one ended.
        case opened(LedgerInterval)
        /// More is known of the open interval than when it began.
        case refined(LedgerInterval)
        case outageBegan(Outage)
        case outageRefined(Outage)
        /// It is final.
        case outageEnded(Outage)
    }

    /// The target, by name.
    public let target: String
    /// The interval that lasts.
    public private(set) var current: LedgerInterval
    /// The outage that lasts, if one does.
    public private(set) var outage: Outage?

    /// Begins to account for a target: nothing is known of it yet.
    ///
    /// - Parameters:
    ///   - target: Its name.
    ///   - start: From when on every nanosecond is accounted for.
    ///   - state: The state from then on.
    ///   - reason: The words of the evidence.
    public init(
        of target: String,
        from start: LedgerInstant,
        _ state: TargetState = TargetState(.unknown, .undecided),
        reason: String? = nil
    ) {
        self.target = target
        current = LedgerInterval(state, from: start, reason: reason)
        outage = state.isOutage ? Outage(of: target, current) : nil
    }

    /// Continues an outage that an earlier run of the service observed; nil if it is over.
    package init?(resuming outage: Outage) {
        guard outage.end == nil, let last = outage.intervals.last else { return nil }
        (target, current, self.outage) = (outage.target, last, outage)
    }

    /// Takes what is so from a moment on.
    ///
    /// - Parameters:
    ///   - state: The new state.
    ///   - reason: The words of the evidence.
    ///   - instant: Since when; a moment before the current interval began counts as that moment.
    ///   - uncertainty: How much earlier it may have become so.
    /// - Returns: The events that follow; none if the state is not new.
    public mutating func take(
        _ state: TargetState,
        reason: String?,
        at instant: LedgerInstant,
        uncertainty: Duration = .zero
    ) -> [Event] {
        if state == current.state, reason == current.reason { return [] }
        let instant = max(instant, current.start)
        // No further back than the interval before began.
        let uncertainty = min(max(.zero, uncertainty), instant - current.start)
        let next = LedgerInterval(state, from: instant, uncertainty: uncertainty, reason: reason)
        var closed = current
        closed.end = instant
        current = next
        return [.closed(closed), .opened(next)] + continueOutage(with: next)
    }

    /// Takes what turned out to have been so since the open interval began.
    ///
    /// - Returns: What that changes; nothing where it was known, or where it would turn an outage into none or none into one, for
    ///   that is a change, not a better explanation.
    public mutating func refine(_ state: TargetState, reason: String?) -> [Event] {
        if state == current.state, reason == current.reason { return [] }
        guard state.isOutage == current.state.isOutage else { return [] }
        current.state = state
        current.reason = reason
        outage?.refine(state, reason: reason)
        return [.refined(current)] + (outage.map { [.outageRefined($0)] } ?? [])
    }

    private mutating func continueOutage(with next: LedgerInterval) -> [Event] {
        guard var outage else {
            guard next.state.isOutage else { return [] }
            let began = Outage(of: target, next)
            self.outage = began
            return [.outageBegan(began)]
        }
        guard next.state.isOutage else {
            outage.end(with: next)
            self.outage = nil
            return [.outageEnded(outage)]
        }
        outage.append(next)
        self.outage = outage
        return [.outageRefined(outage)]
    }
}
