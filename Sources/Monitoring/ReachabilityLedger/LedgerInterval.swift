/// A continuous time in which the state of a target did not change. The end is exclusive. The intervals of a target
/// have no gaps and no overlaps, so their durations add up exactly to the observed time.
public struct LedgerInterval: Hashable, Sendable {
    /// The state during the interval.
    public var state: TargetState
    /// The beginning.
    public let start: LedgerInstant
    /// The time by which the interval may have begun earlier. A change found by a check happened between the last good
    /// and the first failed check. Zero for a change reported by the kernel.
    public let uncertainty: Duration
    /// The end; nil while the interval is open.
    public var end: LedgerInstant?
    /// The reason of the kernel or the check, for example `noCarrier`. Nil while the target is up and not degraded.
    public var reason: String?

    /// Creates an interval.
    ///
    /// - Parameters:
    ///   - state: The state during the interval.
    ///   - start: The beginning.
    ///   - uncertainty: The time by which it may have begun earlier.
    ///   - end: The end; nil while the interval is open.
    ///   - reason: The reason of the kernel or the check.
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

    /// Returns the duration. An open interval ends at `now`.
    public func duration(at now: LedgerInstant) -> Duration { max(start, end ?? now) - start }
}

/// An instant on the time line of the ledger, in nanoseconds.
///
/// The time line is CLOCK_BOOTTIME, shifted so that it agreed with the wall clock when the boot of the machine was
/// first seen. It never jumps and never goes back. Within a boot it runs with CLOCK_BOOTTIME, whatever happens to the
/// wall clock, and a later boot continues it. The displayed time is the instant plus the label offset of its boot,
/// which changes when the wall clock is set.
///
/// The line covers the years 1677 to 2262. Results outside of it are the first or the last instant.
public struct LedgerInstant: Hashable, Comparable, Sendable, Codable {
    /// The nanoseconds since 1970-01-01T00:00:00Z, according to the wall clock at the beginning of the boot.
    public var nanoseconds: Int64

    /// Creates an instant.
    ///
    /// - Parameter nanoseconds: The nanoseconds since 1970-01-01T00:00:00Z on the time line of the ledger.
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// Returns whether `left` is earlier.
    public static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }

    /// Returns the time from `right` to `left`.
    public static func - (left: Self, right: Self) -> Duration {
        .nanoseconds(left.nanoseconds) - .nanoseconds(right.nanoseconds)
    }

    /// Returns the instant that is later by a duration.
    public static func + (left: Self, right: Duration) -> Self {
        LedgerInstant(since1970: .nanoseconds(left.nanoseconds) + right)
    }

    /// Returns the instant that is earlier by a duration.
    public static func - (left: Self, right: Duration) -> Self {
        LedgerInstant(since1970: .nanoseconds(left.nanoseconds) - right)
    }

    /// Returns the time since the last multiple of a length, for example since the beginning of the day.
    package func remainder(of length: Duration) -> Duration {
        let divisor = max(1, length.ledgerNanoseconds)
        let remainder = nanoseconds % divisor
        return .nanoseconds(remainder < 0 ? remainder + divisor : remainder)
    }

    /// Creates an instant. A time outside the line becomes its first or last instant.
    ///
    /// - Parameter time: The time since 1970 on the time line of the ledger.
    package init(since1970 time: Duration) {
        self.init(nanoseconds: time.ledgerNanoseconds)
    }
}

extension Duration {
    /// The whole nanoseconds, which is the unit of the ledger. Beyond 292 years, the nearest number that fits.
    package var ledgerNanoseconds: Int64 {
        if self >= .nanoseconds(Int64.max) { return .max }
        if self <= .nanoseconds(Int64.min) { return .min }
        return components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
    }
}

/// The state of a target: up, or the attribution and cause of an outage.
public struct TargetState: Hashable, Sendable {
    /// The part of the network that is responsible.
    public var attribution: Attribution
    /// The cause; nil while the target is up and not degraded.
    public var cause: OutageCause?
    /// The evidence behind the state.
    public var basis: AttributionBasis
    /// A Boolean value that indicates whether maintenance is planned for the time. Such time is attributed to no part
    /// of the network.
    public var isMaintenance: Bool

    /// Creates a state.
    ///
    /// - Parameters:
    ///   - attribution: The part of the network that is responsible.
    ///   - cause: The cause. Ignored for ``Attribution/up``, except for ``OutageCause/degraded``.
    ///   - basis: The evidence behind the state.
    ///   - isMaintenance: True if maintenance is planned for the time.
    public init(
        _ attribution: Attribution,
        _ cause: OutageCause? = nil,
        basis: AttributionBasis = .path,
        isMaintenance: Bool = false
    ) {
        self.attribution = attribution
        self.cause = attribution == .up && cause != .degraded ? nil : cause
        self.basis = basis
        self.isMaintenance = isMaintenance
    }

    /// The account to which time in this state is added.
    public var account: LedgerAccount { isMaintenance ? .maintenance : LedgerAccount(attribution) }

    /// A Boolean value that indicates whether time in this state belongs to an outage.
    public var isOutage: Bool {
        !isMaintenance && (attribution == .us || attribution == .upstream || attribution == .them)
    }

    /// A Boolean value that indicates whether the target is up, but works only in part.
    public var isDegraded: Bool { account == .up && cause == .degraded }

    /// A Boolean value that indicates whether the target is not monitored for now.
    public var isPaused: Bool { account == .unknown && cause == .paused }

    /// The attribution and the cause, for example `us.link`, `up` or `up.degraded`.
    public var description: String {
        ([attribution.rawValue] + (cause.map { [$0.rawValue] } ?? [])).joined(separator: ".")
    }
}

extension TargetState: CustomStringConvertible {}

/// The six accounts of a target's time. Every instant belongs to exactly one of them.
public enum LedgerAccount: String, Hashable, Sendable, Codable, CaseIterable {
    case up, us, upstream, them, unknown, maintenance

    init(_ attribution: Attribution) {
        switch attribution {
        case .up: self = .up
        case .us: self = .us
        case .upstream: self = .upstream
        case .them: self = .them
        case .unknown: self = .unknown
        }
    }
}
