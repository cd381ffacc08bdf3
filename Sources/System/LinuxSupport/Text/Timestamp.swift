import Glibc

/// The moment a line is written.
package struct Timestamp {
    /// Nanoseconds of CLOCK_MONOTONIC, for comparing with other clocks of the machine.
    package let monotonicNanoseconds: Int64
    private let seconds: Int64
    private let milliseconds: Int64

    package init() {
        let real = Self.read(CLOCK_REALTIME)
        seconds = Int64(real.tv_sec)
        milliseconds = Int64(real.tv_nsec) / 1_000_000
        let monotonic = Self.read(CLOCK_MONOTONIC)
        monotonicNanoseconds = Int64(monotonic.tv_sec) * 1_000_000_000 + Int64(monotonic.tv_nsec)
    }

    /// Another moment: since 1970, and on CLOCK_MONOTONIC, where that is known. RFC 3339 has the years 0000 to 9999: a time
    /// outside them becomes the nearest within.
    package init(real: Duration, monotonic: Duration = .zero) {
        let (whole, part) = real.components
        // Before 1970 both are negative.
        let second = part < 0 && whole > .min ? whole - 1 : whole
        seconds = min(max(second, Self.earliest), Self.latest)
        milliseconds = (part < 0 ? part + 1_000_000_000_000_000_000 : part) / 1_000_000_000_000_000
        monotonicNanoseconds = monotonic.nanoseconds
    }

    /// 0000-01-01T00:00:00Z and 9999-12-31T23:59:59Z in seconds since 1970.
    private static let earliest: Int64 = -62_167_219_200
    package static let latest: Int64 = 253_402_300_799

    private static func read(_ clock: clockid_t) -> timespec {
        var time = timespec()
        _ = clock_gettime(clock, &time)
        return time
    }

    /// UTC with milliseconds, for example `2026-11-21T08:15:30.123Z` (RFC 3339).
    package var text: String {
        var text: [UInt8] = []
        append(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Adds the same as UTF-8.
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
    /// The quotient, rounded down: days before 1970 are negative.
    package func floored(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}

extension OutputSpan<UInt8> {
    /// - Parameter unit: what the first digit counts.
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
    /// The time zone of the user at a moment, in seconds east of Greenwich: `TZ`, else that of the machine.
    ///
    /// C counterpart: `localtime_r(3)`.
    package static func zoneOffset(at real: Duration) -> Int64 {
        var seconds = time_t(real.components.seconds)
        var parts = tm()
        return localtime_r(&seconds, &parts) == nil ? 0 : Int64(parts.tm_gmtoff)
    }

    /// Replaces each time of UTC in a text by the local time, for example `2026-11-21T08:15:30.123Z` by
    /// `2026-11-21T09:15:30.123+01:00`.
    ///
    /// - Parameter offset: The time zone at a moment, in seconds east of Greenwich. Without an offset, a time stays as it is.
    package static func localized(_ text: [UInt8], offset: (Duration) -> Int64 = zoneOffset) -> [UInt8] {
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
    /// The longest end whose bytes all pass.
    fileprivate func suffix(while passes: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let start = lastIndex { !passes($0) }.map { $0 + 1 } ?? startIndex
        return self[start...]
    }
}

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
