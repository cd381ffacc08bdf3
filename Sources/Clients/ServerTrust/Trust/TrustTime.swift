import LinuxSupport
import SwiftASN1

/// A moment in whole seconds of Universal Time, as certificates have them (RFC 5280, 4.1.2.5).
public struct TrustTime: Hashable, Sendable {
    /// Seconds since 1970-01-01T00:00:00Z, leap seconds not counted (POSIX time).
    public let secondsSinceEpoch: Int64

    /// The moment so many seconds after the beginning of 1970; before it if negative.
    public init(secondsSinceEpoch: Int64) {
        self.secondsSinceEpoch = secondsSinceEpoch
    }

    /// A date of the Gregorian calendar, Universal Time. Parts beyond their range carry over: second 60 is the next minute.
    public init(year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0) {
        let days = CivilDate.daysSince1970(year: Int64(year), month: Int64(month), day: Int64(day))
        self.init(secondsSinceEpoch: days * 86400 + Int64((hour * 60 + minute) * 60 + second))
    }

    /// This moment by the machine's clock (`clock_gettime(2)` with CLOCK_REALTIME).
    public static var now: TrustTime { TrustTime(secondsSinceEpoch: SystemClock.real.components.seconds) }

    /// The moment so much later, in whole seconds.
    public func advanced(by duration: Duration) -> TrustTime {
        let (sum, isTooLong) = secondsSinceEpoch.addingReportingOverflow(duration.components.seconds)
        return TrustTime(secondsSinceEpoch: isTooLong ? (duration < .zero ? .min : .max) : sum)
    }
}

extension TrustTime: Comparable {
    /// Whether one is earlier.
    public static func < (one: TrustTime, other: TrustTime) -> Bool {
        one.secondsSinceEpoch < other.secondsSinceEpoch
    }
}

extension TrustTime: CustomStringConvertible {
    /// As RFC 3339 has it: `2026-11-21T06:36:08Z`.
    public var description: String {
        Timestamp(real: .seconds(secondsSinceEpoch)).textInSeconds
    }
}

extension TrustTime: LosslessStringConvertible {
    /// Reads a date of Universal Time, `2027-11-01`, which is its first second, or with the time, `2027-11-01T12:00:00Z` (RFC 3339 with
    /// `Z`, without fractions of a second); nil for everything else, so also for a day that the month does not have.
    public init?(_ text: String) {
        let full = text.utf8.count == 10 ? text + "T00:00:00Z" : text
        guard full.utf8.count == 20 else { return nil }
        guard let real = Timestamp.real(of: full) else { return nil }
        self.init(secondsSinceEpoch: real.components.seconds)
        // A leap second, or a text in another form, has another description.
        guard description == full else { return nil }
    }
}

extension TrustTime {
    /// Fractions of a second are left away.
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

    /// Reads a UTCTime or a GeneralizedTime (Time, RFC 5280, 4.1).
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
