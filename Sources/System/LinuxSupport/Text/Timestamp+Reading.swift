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
}
