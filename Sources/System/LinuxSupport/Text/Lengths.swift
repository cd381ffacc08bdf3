extension Duration {
    /// For JSON and metrics: `4.0012`, as many digits as it needs, exactly.
    package var decimalSeconds: String { nanoseconds.decimal(places: 9) }

    /// To the nearest.
    package var roundedMilliseconds: Int64 { nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 >= 500_000 ? 1 : 0) }

    /// For people: `3d 4h`, `12m 5s`, `4.001s`, `47ms`.
    package var people: String { parts.map { $0.number + $0.unit }.joined(separator: " ") }

    /// For people: the two largest units of it, `d`, `h`, `m`, `s`; below a minute seconds, to the millisecond; below a second `ms`, below ten
    /// of them to the hundredth. Everything that tells people of a length is made of this.
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
    /// The number with so many of its digits behind a point, without zeros at its end.
    package func decimal(places: Int) -> String {
        let digits = String(magnitude)
        let padded = String(repeating: "0", count: Swift.max(0, places + 1 - digits.count)) + digits
        let (whole, fraction) = (padded.dropLast(places), padded.suffix(places))
        let significant = fraction.reversed().drop { $0 == "0" }.reversed()
        return (self < 0 ? "-" : "") + whole + (significant.isEmpty ? "" : "." + String(significant))
    }
}

extension Double {
    /// A share as a percentage with four digits, cut and not rounded: 100 only where nothing was lost.
    package var percentText: String { Int64((self * 1e6).rounded(.down)).decimal(places: 4) }
}
