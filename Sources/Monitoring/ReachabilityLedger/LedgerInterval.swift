/// An unbroken time in which the state of a target did not change. Its end is exclusive: the intervals of a target follow each other
/// without a gap and without an overlap, so what they account for adds up to the time observed, exactly.
public struct LedgerInterval: Hashable, Sendable {
    /// The state during the interval.
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
    ///   - state: The state during the interval.
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

/// A moment on the time line of the ledger, in nanoseconds.
///
/// The line is CLOCK_BOOTTIME, moved so that it agreed with the wall clock when the machine's boot was first seen. It never jumps and
/// never goes back: within a boot it runs with CLOCK_BOOTTIME whatever is done to the wall clock, and a later boot continues it, later.
/// What people read is the instant plus the label offset of its boot, which a step of the wall clock changes.
///
/// The line covers the years 1677 to 2262. Arithmetic that would leave it returns the first or the last instant of it.
public struct LedgerInstant: Hashable, Comparable, Sendable, Codable {
    /// Since 1970-01-01T00:00:00Z, as the wall clock said it at the beginning of the boot.
    public var nanoseconds: Int64

    /// - Parameter nanoseconds: Since 1970-01-01T00:00:00Z, on the line of the ledger.
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// Whether `left` is earlier.
    public static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }

    /// The time from `right` to `left`.
    public static func - (left: Self, right: Self) -> Duration {
        .nanoseconds(left.nanoseconds) - .nanoseconds(right.nanoseconds)
    }

    /// The moment so much later.
    public static func + (left: Self, right: Duration) -> Self {
        LedgerInstant(since1970: .nanoseconds(left.nanoseconds) + right)
    }

    /// The moment so much earlier.
    public static func - (left: Self, right: Duration) -> Self {
        LedgerInstant(since1970: .nanoseconds(left.nanoseconds) - right)
    }

    /// The time since the last multiple of a length, as for days and other fixed intervals.
    package func remainder(of length: Duration) -> Duration {
        let divisor = max(1, length.ledgerNanoseconds)
        let remainder = nanoseconds % divisor
        return .nanoseconds(remainder < 0 ? remainder + divisor : remainder)
    }

    /// - Parameter time: The time since 1970 on the line of the ledger.
    package init(since1970 time: Duration) {
        self.init(nanoseconds: time.ledgerNanoseconds)
    }
}

extension Duration {
    /// Whole nanoseconds, the unit in which the ledger counts. Beyond 292 years, the nearest number that fits.
    package var ledgerNanoseconds: Int64 {
        if self >= .nanoseconds(Int64.max) { return .max }
        if self <= .nanoseconds(Int64.min) { return .min }
        return components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
    }
}

/// The state of a target: whether it is up, and otherwise the attribution and the cause.
public struct TargetState: Hashable, Sendable {
    /// Whose fault it is.
    public var attribution: Attribution
    /// Why; nil while the target is up, except if it is degraded.
    public var cause: OutageCause?
    /// What this is based on.
    public var basis: AttributionBasis
    /// Whether the time is planned maintenance, which has no attribution.
    public var isMaintenance: Bool

    /// - Parameters:
    ///   - attribution: Whose fault it is.
    ///   - cause: Why; for ``Attribution/up`` ignored except for ``OutageCause/degraded``.
    ///   - basis: What this is based on.
    ///   - isMaintenance: Whether maintenance is planned for the time.
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

    /// The account its time goes to.
    public var account: LedgerAccount { isMaintenance ? .maintenance : LedgerAccount(attribution) }

    /// Whether time in this state belongs to an outage.
    public var isOutage: Bool {
        !isMaintenance && (attribution == .us || attribution == .upstream || attribution == .them)
    }

    /// A Boolean value that indicates whether the target is up, but works only in part.
    public var isDegraded: Bool { account == .up && cause == .degraded }

    /// For example `us.link`; `up`; `up.degraded`.
    public var description: String {
        ([attribution.rawValue] + (cause.map { [$0.rawValue] } ?? [])).joined(separator: ".")
    }
}

extension TargetState: CustomStringConvertible {}

/// The six accounts that every second of a target goes to exactly one of.
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

/// The names of sites and devices of a fleet.
package enum FleetName {
    /// A name is a level of a topic, part of a file's name and the name in a certificate: 1 to 64 letters, digits, `.`, `_` and `-`,
    /// the first of them a letter or digit.
    package static func isValid(_ text: String) -> Bool {
        let bytes = text.utf8
        guard (1...64).contains(bytes.count), let first = bytes.first, isLetterOrDigit(first) else { return false }
        return bytes.allSatisfy { isLetterOrDigit($0) || ".-_".utf8.contains($0) }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
