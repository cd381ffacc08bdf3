import LinuxPrimitives

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
        let days = Self.days(year: year, month: month, day: day)
        self.init(secondsSinceEpoch: Int64(((days * 24 + hour) * 60 + minute) * 60 + second))
    }

    /// This moment by the machine's clock (`clock_gettime(2)` with CLOCK_REALTIME).
    public static var now: TrustTime { TrustTime(secondsSinceEpoch: SystemClock.real.components.seconds) }

    /// The moment so much later, in whole seconds.
    public func advanced(by duration: Duration) -> TrustTime {
        let (sum, isTooLong) = secondsSinceEpoch.addingReportingOverflow(duration.components.seconds)
        return TrustTime(secondsSinceEpoch: isTooLong ? (duration < .zero ? .min : .max) : sum)
    }

    /// Days since 1970-01-01. The year is taken to begin in March, so that the leap day is its last.
    private static func days(year: Int, month: Int, day: Int) -> Int {
        let year = month > 2 ? year : year - 1
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
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
        let (days, second) = Self.divide(secondsSinceEpoch, by: 86_400)
        let (era, dayOfEra) = Self.divide(days + 719_468, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let march = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * march + 2) / 5 + 1
        let month = march < 10 ? march + 3 : march - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let date = [Self.padded(year, 4), Self.padded(month, 2), Self.padded(day, 2)].joined(separator: "-")
        let time = [second / 3600, second / 60 % 60, second % 60].map { Self.padded($0, 2) }.joined(separator: ":")
        return "\(date)T\(time)Z"
    }

    private static func divide(_ number: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }
}

extension TrustTime: LosslessStringConvertible {
    /// Reads a date of Universal Time, `2027-11-01`, which is its first second, or with the time, `2027-11-01T12:00:00Z` (RFC 3339 with
    /// `Z`, without fractions of a second); nil for everything else, so also for a day that the month does not have.
    public init?(_ text: String) {
        let full = text.utf8.count == 10 ? text + "T00:00:00Z" : text
        guard full.utf8.count == 20 else { return nil }
        let numbers = full.unicodeScalars.split { "-T:Z".unicodeScalars.contains($0) }.compactMap { Int(Substring($0)) }
        guard numbers.count == 6 else { return nil }
        self.init(
            year: numbers[0],
            month: numbers[1],
            day: numbers[2],
            hour: numbers[3],
            minute: numbers[4],
            second: numbers[5]
        )
        // What carried over, or was written otherwise, reads otherwise.
        guard description == full else { return nil }
    }
}
