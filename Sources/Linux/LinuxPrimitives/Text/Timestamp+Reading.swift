extension Timestamp {
    /// The time since 1970 that a text of RFC 3339 stands for, for example `2026-11-21T08:15:30.123Z` or
    /// `2026-11-21T09:15:30+01:00`; nil where it is none. A leap second counts as the second after it.
    package static func real(of text: String) -> Duration? {
        var rest = Array(text.utf8)[...]
        guard let year = number(&rest, digits: 4, then: "-"), let month = number(&rest, digits: 2, then: "-"),
            let day = number(&rest, digits: 2, then: nil), let separator = rest.popFirst(),
            [UInt8(ascii: "T"), UInt8(ascii: "t"), UInt8(ascii: " ")].contains(separator),
            let hour = number(&rest, digits: 2, then: ":"), let minute = number(&rest, digits: 2, then: ":"),
            let second = number(&rest, digits: 2, then: nil), let fraction = fraction(&rest), let zone = zone(rest),
            (1...12).contains(month), day >= 1, day <= days(inMonth: month, of: year),
            hour < 24, minute < 60, second <= 60
        else { return nil }
        let seconds = daysSince1970(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - zone
        return .seconds(seconds) + .nanoseconds(fraction)
    }

    private static func number(_ rest: inout ArraySlice<UInt8>, digits: Int, then end: Unicode.Scalar?) -> Int64? {
        let text = rest.prefix(digits)
        guard text.count == digits, text.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else { return nil }
        rest = rest.dropFirst(digits)
        if let end, rest.popFirst() != UInt8(ascii: end) { return nil }
        return text.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    }

    /// Nanoseconds; what is beyond them is left out.
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

    /// Seconds east of Greenwich.
    private static func zone(_ text: ArraySlice<UInt8>) -> Int64? {
        var rest = text
        guard let sign = rest.popFirst() else { return nil }
        if sign == UInt8(ascii: "Z") || sign == UInt8(ascii: "z") { return rest.isEmpty ? 0 : nil }
        guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"), let hour = number(&rest, digits: 2, then: ":"),
            let minute = number(&rest, digits: 2, then: nil), rest.isEmpty, hour < 24, minute < 60
        else { return nil }
        return (sign == UInt8(ascii: "-") ? -1 : 1) * (hour * 3600 + minute * 60)
    }

    private static func days(inMonth month: Int64, of year: Int64) -> Int64 {
        if month == 2 { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28 }
        return [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    /// The inverse of the calendar that writes: years begin in March there, so that the leap day comes last.
    private static func daysSince1970(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = (shifted / 400, shifted % 400)
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
