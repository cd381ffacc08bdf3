/// One unbroken time in which a target is not up: intervals that follow each other, none of them up, unknown or maintenance.
public struct Outage: Hashable, Sendable {
    /// What ended an outage.
    public enum Ending: String, Hashable, Sendable, Codable {
        /// The target is up.
        case up
        /// Nobody observed any more, so how long it went on is not known.
        case unknown
        /// Maintenance began.
        case maintenance

        init(_ state: TargetState) {
            self = state.isMaintenance ? .maintenance : state.attribution == .up ? .up : .unknown
        }
    }

    /// The target, by name.
    public let target: String
    /// The intervals inside, in order; at least one.
    public private(set) var intervals: [LedgerInterval]
    /// What ended it; nil while it lasts.
    public private(set) var ending: Ending?
    /// How much earlier it may have ended: the uncertainty of what came after.
    public private(set) var endUncertainty = Duration.zero

    init(of target: String, _ first: LedgerInterval) {
        self.target = target
        intervals = [first]
    }

    /// One that is over or lasts, put together again from what was written down of it.
    ///
    /// - Parameters:
    ///   - intervals: Those inside, in order; at least one.
    ///   - next: The interval after it, if there is one.
    package init(of target: String, _ intervals: [LedgerInterval], before next: LedgerInterval?) {
        self.target = target
        self.intervals = intervals
        guard let end = intervals.last?.end else { return }
        if let next, next.start == end {
            ending = Ending(next.state)
            endUncertainty = next.uncertainty
        } else {
            ending = .unknown
        }
    }

    /// When it began.
    public var start: LedgerInstant { intervals[0].start }

    /// When it ended; nil while it lasts.
    public var end: LedgerInstant? { ending == nil ? nil : intervals.last?.end }

    /// The same in every answer and on every screen, also where it was never written to disk: a target is in one state at a time.
    public var id: String { Self.id(of: target, from: start) }

    /// How long it was; until `now` while it lasts.
    public func duration(at now: LedgerInstant) -> Duration { max(start, end ?? now) - start }

    /// By how much its length may be wrong.
    public var uncertainty: Duration { intervals[0].uncertainty + endUncertainty }

    /// The interval whose attribution and cause are the outage's: the longest, the first of several.
    public func deciding(at now: LedgerInstant) -> LedgerInterval {
        var longest = intervals[0]
        for interval in intervals.dropFirst() where interval.duration(at: now) > longest.duration(at: now) {
            longest = interval
        }
        return longest
    }

    mutating func append(_ interval: LedgerInterval) {
        intervals[intervals.count - 1].end = interval.start
        intervals.append(interval)
    }

    mutating func end(with next: LedgerInterval) {
        intervals[intervals.count - 1].end = next.start
        ending = Ending(next.state)
        endUncertainty = next.uncertainty
    }

    mutating func refine(_ state: TargetState, reason: String?) {
        intervals[intervals.count - 1].state = state
        intervals[intervals.count - 1].reason = reason
    }

    /// The id of the outage of a target that began then.
    package static func id(of target: String, from start: LedgerInstant) -> String {
        // FNV-1a: short, and the same on every machine.
        let hash = target.utf8.reduce(UInt32(0x811C_9DC5)) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
        return "\(String(start.nanoseconds, radix: 36))-\(String(hash, radix: 36))"
    }
}
