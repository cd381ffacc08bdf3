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
