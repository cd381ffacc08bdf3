import LinuxSupport
import SwiftASN1

/// A time in whole seconds of UTC, as in certificates (RFC 5280, 4.1.2.5).
public struct TrustTime: Hashable, Sendable {
    /// The seconds since 1970-01-01T00:00:00Z without leap seconds (POSIX time).
    public let secondsSinceEpoch: Int64

    /// Creates a time from the seconds since 1970-01-01T00:00:00Z, negative for earlier times.
    public init(secondsSinceEpoch: Int64) {
        self.secondsSinceEpoch = secondsSinceEpoch
    }

    /// Creates a time from a date of the Gregorian calendar in UTC. Values outside their range carry over: second 60 is
    /// the next minute.
    public init(year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0) {
        let days = CivilDate.daysSince1970(year: Int64(year), month: Int64(month), day: Int64(day))
        self.init(secondsSinceEpoch: days * 86400 + Int64((hour * 60 + minute) * 60 + second))
    }

    /// The current time of the machine's clock (`clock_gettime(2)` with CLOCK_REALTIME).
    public static var now: TrustTime { TrustTime(secondsSinceEpoch: SystemClock.real.components.seconds) }

    /// Returns the time after a duration in whole seconds. The result is limited to the range of the type.
    public func advanced(by duration: Duration) -> TrustTime {
        let (sum, isTooLong) = secondsSinceEpoch.addingReportingOverflow(duration.components.seconds)
        return TrustTime(secondsSinceEpoch: isTooLong ? (duration < .zero ? .min : .max) : sum)
    }
}

extension TrustTime: Comparable {
    /// Returns whether the first time is earlier.
    public static func < (one: TrustTime, other: TrustTime) -> Bool {
        one.secondsSinceEpoch < other.secondsSinceEpoch
    }
}

extension TrustTime: CustomStringConvertible {
    /// The time in the format of RFC 3339: `2026-11-21T06:36:08Z`.
    public var description: String {
        Timestamp(real: .seconds(secondsSinceEpoch)).textInSeconds
    }
}

extension TrustTime: LosslessStringConvertible {
    /// Parses a date in UTC, `2027-11-01`, which is its first second, or a time, `2027-11-01T12:00:00Z` (RFC 3339 with
    /// `Z` and without fractions of a second). Returns nil for any other text, including dates that do not exist.
    public init?(_ text: String) {
        let full = text.utf8.count == 10 ? text + "T00:00:00Z" : text
        guard full.utf8.count == 20 else { return nil }
        guard let real = Timestamp.real(of: full) else { return nil }
        self.init(secondsSinceEpoch: real.components.seconds)
        // The text of a leap second, or of another format, differs from the description.
        guard description == full else { return nil }
    }
}

extension TrustTime {
    /// Creates a time without the fractions of a second.
    init(_ time: GeneralizedTime) {
        self.init(
            year: time.year,
            month: time.month,
            day: time.day,
            hour: time.hours,
            minute: time.minutes,
            second: time.seconds
        )
    }

    /// Parses a UTCTime or a GeneralizedTime (Time, RFC 5280, 4.1).
    init(_ node: ASN1Node) throws {
        guard node.identifier == .utcTime else {
            self.init(try GeneralizedTime(derEncoded: node))
            return
        }
        let time = try UTCTime(derEncoded: node)
        self.init(
            year: time.year,
            month: time.month,
            day: time.day,
            hour: time.hours,
            minute: time.minutes,
            second: time.seconds
        )
    }
}
