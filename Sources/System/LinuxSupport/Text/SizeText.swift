/// Numbers of bytes as people write them: a whole number and `KB`, `MB` or `GB` (thousands, SI), `KiB`, `MiB` or `GiB` (1024s, IEC), or none
/// of them, for example `64MB`. `kB` is `KB`.
package enum SizeText {
    /// Nil where it is none, or more than can be counted.
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
