/// The ledger of one target, which accounts for every nanosecond of its time. It receives the states of the target, and
/// returns the resulting events. A value type that reads no clock. It keeps only the open interval and the current
/// outage.
public struct TargetLedger: Sendable {
    /// An event of the ledger.
    public enum Event: Hashable, Sendable {
        /// An interval has ended, and is final.
        case closed(LedgerInterval)
        /// The next interval began when the previous one ended.
        case opened(LedgerInterval)
        /// The state of the open interval was corrected.
        case refined(LedgerInterval)
        case outageBegan(Outage)
        case outageRefined(Outage)
        /// An outage has ended, and is final.
        case outageEnded(Outage)
    }

    /// The name of the target.
    public let target: String
    /// The open interval.
    public private(set) var current: LedgerInterval
    /// The current outage; nil while no outage lasts.
    public private(set) var outage: Outage?

    /// Creates the ledger of a target.
    ///
    /// - Parameters:
    ///   - target: The name of the target.
    ///   - start: The beginning of the accounted time.
    ///   - state: The state from the beginning.
    ///   - reason: The reason of the kernel or the check.
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

    /// Continues an outage that an earlier run of the service observed. Returns nil if the outage has ended.
    package init?(resuming outage: Outage) {
        guard outage.end == nil, let last = outage.intervals.last else { return nil }
        (target, current, self.outage) = (outage.target, last, outage)
    }

    /// Records a state from an instant on.
    ///
    /// - Parameters:
    ///   - state: The new state.
    ///   - reason: The reason of the kernel or the check.
    ///   - instant: The beginning of the state. An instant before the open interval counts as its beginning.
    ///   - uncertainty: The time by which the state may have begun earlier.
    /// - Returns: The resulting events. None if the state is not new.
    public mutating func take(
        _ state: TargetState,
        reason: String?,
        at instant: LedgerInstant,
        uncertainty: Duration = .zero
    ) -> [Event] {
        if state == current.state, reason == current.reason { return [] }
        let instant = max(instant, current.start)
        // Not before the beginning of the previous interval.
        let uncertainty = min(max(.zero, uncertainty), instant - current.start)
        let next = LedgerInterval(state, from: instant, uncertainty: uncertainty, reason: reason)
        var closed = current
        closed.end = instant
        current = next
        return [.closed(closed), .opened(next)] + continueOutage(with: next)
    }

    /// Corrects the state of the open interval since its beginning.
    ///
    /// - Returns: The resulting events. None if the state is not new, or if the correction would begin or end an
    ///   outage, because that is a change of state and not a better explanation.
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
