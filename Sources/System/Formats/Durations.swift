extension Duration {
    /// The whole nanoseconds. A negative duration counts as zero. Beyond 292 years, the largest number that fits.
    package var nanoseconds: Int64 {
        guard self < .nanoseconds(Int64.max) else { return .max }
        guard self > .zero else { return 0 }
        return components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
    }

    /// The whole milliseconds, rounded toward zero. If the number does not fit, the nearest one that does.
    package var milliseconds: Int64 {
        if self >= .milliseconds(Int64.max) { return .max }
        if self <= .milliseconds(Int64.min) { return .min }
        return components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }

    /// The milliseconds, rounded to the nearest.
    package var roundedMilliseconds: Int64 { nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 >= 500_000 ? 1 : 0) }

    /// The exact seconds for JSON and metrics, with as many digits as needed, for example `4.0012`.
    package var decimalSeconds: String { nanoseconds.decimal(places: 9) }

    /// A short text for people, for example `3d 4h`, `12m 5s`, `4.001s` or `47ms`.
    package var people: String { parts.map { $0.number + $0.unit }.joined(separator: " ") }

    /// The duration with no-break spaces between numbers and units, such as `47 ms`, `4.001 s` or `12 min 5 s`. Otherwise as ``people``.
    package var units: String {
        parts.map { "\($0.number)\u{a0}\($0.unit == "m" ? "min" : $0.unit)" }.joined(separator: " ")
    }

    /// The numbers and units of ``people``: the two largest of `d`, `h`, `m` and `s`. Below a minute, seconds with
    /// three decimal places. Below a second, milliseconds. Below 10 ms, milliseconds with two decimal places.
    package var parts: [(number: String, unit: String)] {
        let milliseconds = roundedMilliseconds
        if milliseconds == 0, nanoseconds < 5000 { return [("0", "s")] }
        if milliseconds < 10 { return [(((nanoseconds + 5000) / 10_000).decimal(places: 2), "ms")] }
        if milliseconds < 1000 { return [(String(milliseconds), "ms")] }
        if milliseconds < 60_000 { return [(milliseconds.decimal(places: 3), "s")] }
        var rest = milliseconds / 1000
        var parts: [(number: String, unit: String)] = []
        for (unit, name) in [(Int64(86400), "d"), (3600, "h"), (60, "m"), (1, "s")] where parts.count < 2 {
            if rest >= unit || !parts.isEmpty {
                let count = rest / unit
                parts.append((String(count), name))
                rest -= count * unit
            }
        }
        return parts.filter { $0.number != "0" }
    }
}

extension Int64 {
    /// Returns the number divided by a power of ten, without trailing zeros: `1500.decimal(places: 3)` is `1.5`.
    package func decimal(places: Int) -> String {
        let digits = String(magnitude)
        let padded = String(repeating: "0", count: Swift.max(0, places + 1 - digits.count)) + digits
        let (whole, fraction) = (padded.dropLast(places), padded.suffix(places))
        let significant = fraction.reversed().drop { $0 == "0" }.reversed()
        return (self < 0 ? "-" : "") + whole + (significant.isEmpty ? "" : "." + String(significant))
    }
}

extension Double {
    /// A fraction as a percentage with four decimal places. It is rounded down, so that it is 100 only for exactly 1.
    package var percentText: String { Int64((self * 1e6).rounded(.down)).decimal(places: 4) }
}

/// The text form of a duration: a number and `ms`, `s`, `m`, `h` or `d`, for example `500ms`, `1.5s`, `2m` or `1h`.
package enum DurationText {
    /// The maximum duration in a configuration or a request: a hundred years of 365 days.
    package static let longest = Duration.seconds(36_500 * 86_400)

    /// Parses a duration. Returns nil for any other text.
    package static func duration(_ text: String) -> Duration? {
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let parts = number.split(at: ".", omittingEmptySubsequences: false)
        guard let unit = units[text.dropFirst(number.count)], let whole = parts.first.flatMap({ Int64($0) }),
            parts.count <= 2, let fraction = nanoseconds(parts.count == 2 ? parts[1] : "0", of: unit),
            whole <= Int64.max / unit
        else { return nil }
        return .milliseconds(whole * unit) + .nanoseconds(fraction)
    }

    /// Returns the shortest text of a duration in whole milliseconds.
    package static func text(_ duration: Duration) -> String {
        let milliseconds = duration.nanoseconds / 1_000_000
        for (name, unit) in [("d", Int64(86_400_000)), ("h", 3_600_000), ("m", 60_000), ("s", 1000)]
        where milliseconds >= unit && milliseconds % unit == 0 {
            return "\(milliseconds / unit)\(name)"
        }
        return "\(milliseconds)ms"
    }

    /// Parses one to six decimal places. Returns the nanoseconds, or nil for any other text.
    ///
    /// - Parameter unit: The unit in milliseconds.
    private static func nanoseconds(_ digits: Substring, of unit: Int64) -> Int64? {
        guard 1...6 ~= digits.utf8.count, let number = Int64(digits) else { return nil }
        var scale: Int64 = 1
        for _ in digits.utf8 { scale *= 10 }
        // Every scale is a divisor of the million nanoseconds in a millisecond.
        return number * unit * (1_000_000 / scale)
    }

    /// The milliseconds of each unit.
    private static let units: [Substring: Int64] = [
        "ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000,
    ]
}

/// The text form of a number of bytes, for example `64MB`: a whole number and `KB`, `MB` or `GB` (SI), `KiB`, `MiB` or
/// `GiB` (IEC), or no unit. `kB` is `KB`.
package enum SizeText {
    /// Parses a size. Returns nil for any other text, for zero and for a number that does not fit.
    package static func bytes(_ text: String) -> Int? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int(digits), let unit = units[text.dropFirst(digits.count)], number > 0,
            number <= Int.max / unit
        else { return nil }
        return number * unit
    }

    private static let units: [Substring: Int] = [
        "": 1, "kB": 1000, "KB": 1000, "MB": 1_000_000, "GB": 1_000_000_000,
        "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
    ]
}
