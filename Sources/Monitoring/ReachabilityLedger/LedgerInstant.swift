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
