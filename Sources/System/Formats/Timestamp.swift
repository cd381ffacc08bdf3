/// A time of the real-time clock in milliseconds, written as RFC 3339.
package struct Timestamp {
    /// The nanoseconds of CLOCK_MONOTONIC, for comparison with other clocks of the machine.
    package let monotonicNanoseconds: Int64
    private let seconds: Int64
    private let milliseconds: Int64

    /// Creates a timestamp.
    ///
    /// - Parameters:
    ///   - real: The time since 1970. RFC 3339 covers the years 0000 to 9999. A time outside them becomes the nearest
    ///     one inside.
    ///   - monotonic: The time of CLOCK_MONOTONIC, if it is known.
    package init(real: Duration, monotonic: Duration = .zero) {
        let (whole, part) = real.components
        // Before 1970 both parts are negative.
        let second = part < 0 && whole > .min ? whole - 1 : whole
        seconds = min(max(second, Self.earliest), Self.latest)
        milliseconds = (part < 0 ? part + 1_000_000_000_000_000_000 : part) / 1_000_000_000_000_000
        monotonicNanoseconds = monotonic.nanoseconds
    }

    /// 0000-01-01T00:00:00Z and 9999-12-31T23:59:59Z in seconds since 1970.
    private static let earliest: Int64 = -62_167_219_200
    package static let latest: Int64 = 253_402_300_799

    /// UTC with milliseconds, for example `2026-11-21T08:15:30.123Z` (RFC 3339).
    package var text: String {
        var text: [UInt8] = []
        append(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// UTC without milliseconds, for example `2026-11-21T08:15:30Z`.
    package var textInSeconds: String { text.dropLast(5) + "Z" }

    /// Appends ``text`` as UTF-8.
    func append(to text: inout [UInt8]) {
        let days = seconds.floored(by: 86400)
        let second = seconds - days * 86400
        let date = CivilDate(daysSince1970: days)
        text.append(addingCapacity: 24) { output in
            output.append(date.year, unit: 1000, then: "-")
            output.append(date.month, unit: 10, then: "-")
            output.append(date.day, unit: 10, then: "T")
            output.append(second / 3600, unit: 10, then: ":")
            output.append(second / 60 % 60, unit: 10, then: ":")
            output.append(second % 60, unit: 10, then: ".")
            output.append(milliseconds, unit: 100, then: "Z")
        }
    }
}

extension Int64 {
    /// Returns the quotient, rounded down, so that days before 1970 are negative.
    package func floored(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}

extension OutputSpan<UInt8> {
    /// Appends a decimal number and a character.
    ///
    /// - Parameter unit: The value of the first digit.
    @inline(never) fileprivate mutating func append(_ number: Int64, unit: Int64, then end: Unicode.Scalar) {
        var unit = unit
        while unit > 0 {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / unit % 10))
            unit /= 10
        }
        append(UInt8(ascii: end))
    }
}

extension Timestamp {
    /// Replaces each UTC time in a text by local time, for example `2026-11-21T08:15:30.123Z` by
    /// `2026-11-21T09:15:30.123+01:00`.
    ///
    /// - Parameter offset: Returns the offset of the time zone at a time, in seconds east of Greenwich. If the offset
    ///   is zero, the time is not changed.
    package static func localized(_ text: [UInt8], offset: (Duration) -> Int64) -> [UInt8] {
        var result: [UInt8] = []
        var rest = text[...]
        // The shortest time is `2026-11-21T08:15:30Z`.
        while let end = rest.firstIndex(of: UInt8(ascii: "Z")) {
            let word = rest[..<end].suffix(while: {
                UInt8(ascii: "0")...UInt8(ascii: ":") ~= $0 || "-.T".utf8.contains($0)
            })
            let time = word + [UInt8(ascii: "Z")]
            result += rest[..<word.startIndex]
            if word.count >= 19, let real = real(of: String(decoding: time, as: UTF8.self)) {
                result += local(real, time, offset(real))
            } else {
                result += time
            }
            rest = rest[(end + 1)...]
        }
        return result + rest
    }

    private static func local(_ real: Duration, _ time: ArraySlice<UInt8>, _ offset: Int64) -> [UInt8] {
        // RFC 3339 has no seconds in an offset.
        let minutes = offset / 60
        guard minutes != 0 else { return Array(time) }
        let text = Timestamp(real: real + .seconds(minutes * 60)).text.utf8.dropLast()
        let (hour, minute) = (abs(minutes) / 60, abs(minutes) % 60)
        let zone = "\(minutes < 0 ? "-" : "+")\(hour < 10 ? "0" : "")\(hour):\(minute < 10 ? "0" : "")\(minute)"
        return Array(text) + Array(zone.utf8)
    }
}

extension ArraySlice<UInt8> {
    /// Returns the longest suffix whose bytes all pass the test.
    fileprivate func suffix(while passes: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let start = lastIndex { !passes($0) }.map { $0 + 1 } ?? startIndex
        return self[start...]
    }
}

extension Timestamp {
    /// Parses an RFC 3339 time, for example `2026-11-21T08:15:30.123Z` or `2026-11-21T09:15:30+01:00`, as the time
    /// since 1970. Returns nil for any other text. A leap second counts as the following second.
    package static func real(of text: String) -> Duration? {
        var rest = Array(text.utf8)[...]
        guard let year = number(&rest, digits: 4, then: "-"), let month = number(&rest, digits: 2, then: "-"),
            let day = number(&rest, digits: 2, then: nil), let separator = rest.popFirst(),
            [UInt8(ascii: "T"), UInt8(ascii: "t"), UInt8(ascii: " ")].contains(separator),
            let hour = number(&rest, digits: 2, then: ":"), let minute = number(&rest, digits: 2, then: ":"),
            let second = number(&rest, digits: 2, then: nil), let fraction = fraction(&rest), let zone = zone(rest),
            (1...12).contains(month), hour < 24, minute < 60, second <= 60
        else { return nil }
        let days = CivilDate.daysSince1970(year: year, month: month, day: day)
        // The month may be shorter.
        guard CivilDate(daysSince1970: days).day == day else { return nil }
        let seconds = days * 86400 + hour * 3600 + minute * 60 + second - zone
        return .seconds(seconds) + .nanoseconds(fraction)
    }

    private static func number(_ rest: inout ArraySlice<UInt8>, digits: Int, then end: Unicode.Scalar?) -> Int64? {
        let text = rest.prefix(digits)
        guard text.count == digits, text.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else { return nil }
        rest = rest.dropFirst(digits)
        if let end, rest.popFirst() != UInt8(ascii: end) { return nil }
        return text.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    }

    /// Parses a fraction of a second as nanoseconds. Further digits are ignored.
    private static func fraction(_ rest: inout ArraySlice<UInt8>) -> Int64? {
        guard rest.first == UInt8(ascii: ".") else { return 0 }
        rest = rest.dropFirst()
        let digits = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        guard !digits.isEmpty else { return nil }
        rest = rest.dropFirst(digits.count)
        var (value, unit): (Int64, Int64) = (0, 100_000_000)
        for digit in digits.prefix(9) {
            value += Int64(digit - UInt8(ascii: "0")) * unit
            unit /= 10
        }
        return value
    }

    /// Parses a time zone as seconds east of Greenwich.
    private static func zone(_ text: ArraySlice<UInt8>) -> Int64? {
        var rest = text
        guard let sign = rest.popFirst() else { return nil }
        if sign == UInt8(ascii: "Z") || sign == UInt8(ascii: "z") { return rest.isEmpty ? 0 : nil }
        guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"), let hour = number(&rest, digits: 2, then: ":"),
            let minute = number(&rest, digits: 2, then: nil), rest.isEmpty, hour < 24, minute < 60
        else { return nil }
        return (sign == UInt8(ascii: "-") ? -1 : 1) * (hour * 3600 + minute * 60)
    }
}

/// A date of the proleptic Gregorian calendar. The calculation counts years from March, so that the leap day is the
/// last day of a year. 400 years have 146,097 days.
package struct CivilDate: Hashable, Sendable {
    package let year: Int64
    package let month: Int64
    package let day: Int64

    /// Creates the date that is a number of days after 1970-01-01.
    package init(daysSince1970: Int64) {
        let shifted = daysSince1970 + 719_468
        let era = shifted.floored(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
    }

    /// Returns the number of days from 1970-01-01 to a date. A day beyond the end of its month counts as a day of the next month.
    package static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month > 2 ? year : year - 1
        let era = shifted.floored(by: 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}

/// HTTP dates.
///
/// Source: RFC 9110, section 5.6.7.
package enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Parses `Sun, 06 Nov 1994 08:49:37 GMT` and the obsolete formats `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6
    /// 08:49:37 1994`. Returns the seconds since 1970, or nil for any other text. The day of the week is ignored.
    ///
    /// - Parameter now: The current time in seconds since 1970. A two-digit year is at most 50 years later.
    package static func secondsSince1970(_ text: String, now: Int64) -> Int64? {
        let words = Array(text.split(at: " ").dropFirst())
        switch words.count {
        case 5 where words[4] == "GMT": return seconds(words[0], words[1], number(words[2], 4), words[3])
        case 3 where words[2] == "GMT":
            let parts = words[0].split(at: "-")
            guard parts.count == 3, let short = number(parts[2], 2) else { return nil }
            return seconds(parts[0], parts[1], year(short, near: now), words[1])
        case 4: return seconds(words[1], words[0], number(words[3], 4), words[2])
        default: return nil
        }
    }

    private static func seconds(_ day: Substring, _ month: Substring, _ year: Int64?, _ time: Substring) -> Int64? {
        let clock = time.split(at: ":", omittingEmptySubsequences: false).map { number($0, 2) ?? .max }
        guard let day = number(day, day.utf8.count), 1...31 ~= day, let year, year >= 1601, clock.count == 3,
            let month = months.firstIndex(of: String(month)), clock[0] < 24, clock[1] < 60, clock[2] <= 60
        else { return nil }
        let days = CivilDate.daysSince1970(year: year, month: Int64(month) + 1, day: day)
        return days * 86400 + clock[0] * 3600 + clock[1] * 60 + clock[2]
    }

    private static func year(_ short: Int64, near now: Int64) -> Int64 {
        // The mean length of a year is exact enough to determine the century.
        let current = 1970 + now / 31_556_952
        let year = current - current % 100 + short
        return year > current + 50 ? year - 100 : year
    }

    private static func number(_ text: Substring, _ digits: Int) -> Int64? {
        text.utf8.count == digits && text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
            ? Int64(text) : nil
    }
}
