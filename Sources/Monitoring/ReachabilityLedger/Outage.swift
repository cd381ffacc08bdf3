/// One unbroken time in which a target is not up: intervals that follow each other, none of them up, unknown or maintenance.
public struct Outage: Hashable, Sendable {
    /// What ended an outage.
    public enum Ending: String, Hashable, Sendable, Codable {
        /// The target is up.
        case up
        /// Observation ended, so the length of the outage is not known.
        case unknown
        /// Maintenance began.
        case maintenance

        init(_ state: TargetState) {
            self = state.isMaintenance ? .maintenance : state.attribution == .up ? .up : .unknown
        }
    }

    /// The target, by name.
    public let target: String
    /// The intervals of the outage; at least one.
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
    ///   - intervals: The intervals of the outage; at least one.
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

/// How the time of a target was spent within a window, and what follows from it. The six accounts add up to the window.
public struct Availability: Hashable, Sendable {
    /// From here on.
    public let from: LedgerInstant
    /// Up to here, exclusive.
    public let to: LedgerInstant
    private var accounts: [LedgerAccount: Int64] = [:]

    /// - Parameters:
    ///   - intervals: Those that overlap the window, in any order, without overlaps of their own. An open one lasts until `to`.
    ///   - from: Where the window begins.
    ///   - to: Where it ends, exclusive.
    ///
    /// What no interval covers was not observed, and goes to ``LedgerAccount/unknown``. A window of more than 292 years is cut to its
    /// last 292.
    public init(of intervals: some Sequence<LedgerInterval>, from: LedgerInstant, to: LedgerInstant) {
        self.to = max(from, to)
        let from = max(from, self.to - .nanoseconds(Int64.max))
        self.from = from
        var missing = self.to.nanoseconds - from.nanoseconds
        for interval in intervals {
            let start = max(interval.start, from).nanoseconds
            let end = min(interval.end ?? self.to, self.to).nanoseconds
            guard end > start else { continue }
            let time = min(end - start, missing)
            accounts[interval.state.account, default: 0] += time
            missing -= time
        }
        accounts[.unknown, default: 0] += missing
    }

    /// Gives an account time that no interval told of, and that was `unknown` until then; no more of it than there is.
    ///
    /// - Parameters:
    ///   - time: How much.
    ///   - account: Which.
    public mutating func add(_ time: Duration, to account: LedgerAccount) {
        let time = min(max(time.ledgerNanoseconds, 0), self[.unknown])
        accounts[.unknown, default: 0] -= time
        accounts[account, default: 0] += time
    }

    /// How long the window is.
    public var window: Duration { to - from }

    /// How much of the window an account has.
    public func duration(_ account: LedgerAccount) -> Duration { .nanoseconds(self[account]) }

    private subscript(_ account: LedgerAccount) -> Int64 { accounts[account, default: 0] }

    private var total: Int64 { to.nanoseconds - from.nanoseconds }

    private var observed: Int64 { total - self[.unknown] - self[.maintenance] }

    /// The share of the time observed in which the target was up, from 0 to 1; nil where nothing was observed.
    public var availability: Double? { share(self[.up], of: observed) }

    /// The target's own share: of the time in which this machine and its provider worked, that in which it was up.
    public var theirs: Double? {
        let base = observed - self[.us] - self[.upstream]
        return share(base - self[.them], of: base)
    }

    /// The share of the time observed in which this machine was not at fault.
    public var ours: Double? { share(observed - self[.us], of: observed) }

    /// The provider's share: of the time in which this machine worked, that in which the provider did.
    public var provider: Double? {
        let base = observed - self[.us]
        return share(base - self[.upstream], of: base)
    }

    /// The least the availability of the whole window can be: as if all that is unknown had been down.
    public var atLeast: Double? { share(self[.up], of: total) }

    /// The most it can be: as if all that is unknown had been up.
    public var atMost: Double? { share(self[.up] + self[.unknown], of: total) }

    private func share(_ part: Int64, of whole: Int64) -> Double? {
        whole > 0 ? Double(part) / Double(whole) : nil
    }
}
