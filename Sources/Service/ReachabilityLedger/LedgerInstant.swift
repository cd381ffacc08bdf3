/// A moment on the time line of the ledger, in nanoseconds.
///
/// The line is CLOCK_BOOTTIME, moved so that it agreed with the wall clock when the machine's boot was first seen. It never jumps and
/// never goes back: within a boot it runs with CLOCK_BOOTTIME whatever is done to the wall clock, and a later boot continues it, later.
/// What people read is the instant plus the label offset of its boot, which a step of the wall clock changes.
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
    public static func - (left: Self, right: Self) -> Duration { .nanoseconds(left.nanoseconds - right.nanoseconds) }

    /// The moment so much later.
    public static func + (left: Self, right: Duration) -> Self {
        LedgerInstant(nanoseconds: left.nanoseconds + right.ledgerNanoseconds)
    }

    /// The moment so much earlier.
    public static func - (left: Self, right: Duration) -> Self {
        LedgerInstant(nanoseconds: left.nanoseconds - right.ledgerNanoseconds)
    }
}

extension Duration {
    /// In nanoseconds, the unit in which the ledger counts. It holds 292 years.
    package var ledgerNanoseconds: Int64 {
        components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
    }
}
