/// A continuous time in which a target is not up: consecutive intervals, none of which is up, unknown or maintenance.
public struct Outage: Hashable, Sendable {
    /// The event that ended an outage.
    public enum Ending: String, Hashable, Sendable, Codable {
        /// The target is up.
        case up
        /// The observation ended, so the length of the outage is not known.
        case unknown
        /// Maintenance began.
        case maintenance

        init(_ state: TargetState) {
            self = state.isMaintenance ? .maintenance : state.attribution == .up ? .up : .unknown
        }
    }

    /// The name of the target.
    public let target: String
    /// The intervals of the outage, at least one.
    public private(set) var intervals: [LedgerInterval]
    /// The event that ended the outage; nil while it lasts.
    public private(set) var ending: Ending?
    /// The time by which the outage may have ended earlier. It is the uncertainty of the following interval.
    public private(set) var endUncertainty = Duration.zero

    init(of target: String, _ first: LedgerInterval) {
        self.target = target
        intervals = [first]
    }

    /// Restores an outage from stored intervals.
    ///
    /// - Parameters:
    ///   - target: The name of the target.
    ///   - intervals: The intervals of the outage, at least one.
    ///   - next: The following interval; nil without one.
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

    /// The beginning.
    public var start: LedgerInstant { intervals[0].start }

    /// The end; nil while the outage lasts.
    public var end: LedgerInstant? { ending == nil ? nil : intervals.last?.end }

    /// The identifier. It is derived from the target and the beginning, so it is the same everywhere, even if the
    /// outage was never stored. A target has only one state at a time.
    public var id: String { Self.id(of: target, from: start) }

    /// Returns the duration. An outage that lasts ends at `now`.
    public func duration(at now: LedgerInstant) -> Duration { max(start, end ?? now) - start }

    /// The maximum error of the duration.
    public var uncertainty: Duration { intervals[0].uncertainty + endUncertainty }

    /// Returns the interval whose attribution and cause apply to the outage: the longest one, and the first of equally
    /// long ones.
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

    /// Returns the identifier of the outage of a target that began at an instant.
    package static func id(of target: String, from start: LedgerInstant) -> String {
        // FNV-1a: short, and the same on every machine.
        let hash = target.utf8.reduce(UInt32(0x811C_9DC5)) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
        return "\(String(start.nanoseconds, radix: 36))-\(String(hash, radix: 36))"
    }
}

/// The time in each account, in nanoseconds. A dictionary would take many times the memory and time of this.
package struct AccountTimes: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    private var up: Int64 = 0, us: Int64 = 0, upstream: Int64 = 0, them: Int64 = 0, unknown: Int64 = 0
    private var maintenance: Int64 = 0

    package init(dictionaryLiteral times: (LedgerAccount, Duration)...) {
        for (account, time) in times { self[account] = time.ledgerNanoseconds }
    }

    package subscript(_ account: LedgerAccount) -> Int64 {
        get {
            switch account {
            case .up: up
            case .us: us
            case .upstream: upstream
            case .them: them
            case .unknown: unknown
            case .maintenance: maintenance
            }
        }
        set {
            switch account {
            case .up: up = newValue
            case .us: us = newValue
            case .upstream: upstream = newValue
            case .them: them = newValue
            case .unknown: unknown = newValue
            case .maintenance: maintenance = newValue
            }
        }
    }
}

/// The use of a target's time within a window, and the availabilities calculated from it. The six accounts add up to
/// the window.
public struct Availability: Hashable, Sendable {
    /// The beginning of the window.
    public let from: LedgerInstant
    /// The end of the window, exclusive.
    public let to: LedgerInstant
    private var accounts = AccountTimes()

    /// Creates the accounts of a window.
    ///
    /// - Parameters:
    ///   - intervals: The intervals that overlap the window, in any order. They must not overlap each other. An open
    ///     one lasts until `to`.
    ///   - from: The beginning of the window.
    ///   - to: The end of the window, exclusive.
    ///
    /// Time that no interval covers was not observed, and is added to ``LedgerAccount/unknown``. A window of more than
    /// 292 years is reduced to its last 292 years.
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
            accounts[interval.state.account] += time
            missing -= time
        }
        accounts[.unknown] += missing
    }

    /// Moves time from ``LedgerAccount/unknown`` to an account, at most the whole time of ``LedgerAccount/unknown``.
    ///
    /// - Parameters:
    ///   - time: The time to move.
    ///   - account: The account that receives it.
    public mutating func add(_ time: Duration, to account: LedgerAccount) {
        add(time.ledgerNanoseconds, to: account)
    }

    /// Moves times from ``LedgerAccount/unknown`` to their accounts, until ``LedgerAccount/unknown`` is zero.
    package mutating func add(_ times: AccountTimes) {
        for account in LedgerAccount.allCases { add(times[account], to: account) }
    }

    private mutating func add(_ nanoseconds: Int64, to account: LedgerAccount) {
        let time = min(max(nanoseconds, 0), self[.unknown])
        accounts[.unknown] -= time
        accounts[account] += time
    }

    /// The length of the window.
    public var window: Duration { to - from }

    /// Returns the time of an account within the window.
    public func duration(_ account: LedgerAccount) -> Duration { .nanoseconds(self[account]) }

    private subscript(_ account: LedgerAccount) -> Int64 { accounts[account] }

    private var total: Int64 { to.nanoseconds - from.nanoseconds }

    private var observed: Int64 { total - self[.unknown] - self[.maintenance] }

    /// The availability: the share of the observed time in which the target was up, from 0 to 1. Nil if nothing was
    /// observed.
    public var availability: Double? { share(self[.up], of: observed) }

    /// The availability of the target alone, from 0 to 1: the share of up time in the time in which this machine and
    /// its provider worked. Nil without such time.
    public var theirs: Double? {
        let base = observed - self[.us] - self[.upstream]
        return share(base - self[.them], of: base)
    }

    /// The share of the observed time in which this machine was not at fault, from 0 to 1. Nil if nothing was observed.
    public var ours: Double? { share(observed - self[.us], of: observed) }

    /// The availability of the provider, from 0 to 1: the share of the time in which this machine worked and the
    /// provider did too. Nil without such time.
    public var provider: Double? {
        let base = observed - self[.us]
        return share(base - self[.upstream], of: base)
    }

    /// The minimum availability of the whole window, from 0 to 1. It counts unknown time as down.
    public var atLeast: Double? { share(self[.up], of: total) }

    /// The maximum availability of the whole window, from 0 to 1. It counts unknown time as up.
    public var atMost: Double? { share(self[.up] + self[.unknown], of: total) }

    private func share(_ part: Int64, of whole: Int64) -> Double? {
        whole > 0 ? Double(part) / Double(whole) : nil
    }
}
