/// A length of time as people write it: a number and `ms`, `s`, `m`, `h` or `d`, for example `500ms`, `1.5s`, `2m` or `1h`.
package enum DurationText {
    /// The longest duration that a configuration or a request may contain: a hundred years of 365 days.
    package static let longest = Duration.seconds(36_500 * 86_400)

    /// What a text says; nil when it is no such length.
    package static func duration(_ text: String) -> Duration? {
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let parts = number.split(at: ".", omittingEmptySubsequences: false)
        guard let unit = units[text.dropFirst(number.count)], let whole = parts.first.flatMap({ Int64($0) }),
            parts.count <= 2, let fraction = nanoseconds(parts.count == 2 ? parts[1] : "0", of: unit),
            whole <= Int64.max / unit
        else { return nil }
        return .milliseconds(whole * unit) + .nanoseconds(fraction)
    }

    /// The shortest text that says it, whole milliseconds at least.
    package static func text(_ duration: Duration) -> String {
        let milliseconds = duration.nanoseconds / 1_000_000
        for (name, unit) in [("d", Int64(86_400_000)), ("h", 3_600_000), ("m", 60_000), ("s", 1000)]
        where milliseconds >= unit && milliseconds % unit == 0 {
            return "\(milliseconds / unit)\(name)"
        }
        return "\(milliseconds)ms"
    }

    /// What the digits behind the point stand for, at most six of them; nil when they are none.
    ///
    /// - Parameter unit: In milliseconds.
    private static func nanoseconds(_ digits: Substring, of unit: Int64) -> Int64? {
        guard 1...6 ~= digits.utf8.count, let number = Int64(digits) else { return nil }
        var scale: Int64 = 1
        for _ in digits.utf8 { scale *= 10 }
        // Every scale is a divisor of the million nanoseconds in a millisecond.
        return number * unit * (1_000_000 / scale)
    }

    /// Milliseconds of each unit.
    private static let units: [Substring: Int64] = [
        "ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000,
    ]
}
