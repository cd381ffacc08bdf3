import ArgumentParser
import CommandLineSupport

/// A number of bytes as people write it: a whole number and `KB`, `MB` or `GB` (thousands, SI), `KiB`, `MiB` or `GiB` (1024s, IEC), or none
/// of them, for example `64MB`. `kB` is `KB`.
struct SizeArgument: ExpressibleByArgument {
    let text: String

    init(argument: String) {
        text = argument
    }

    var defaultValueDescription: String { text }

    /// - Throws: ``ExitMessage`` when the text is no such number, which is said in one sentence.
    var bytes: Int {
        get throws {
            let digits = text.prefix { $0.isASCII && $0.isNumber }
            guard let number = Int(digits), let unit = Self.units[text.dropFirst(digits.count)],
                number > 0, number <= Int.max / unit
            else { throw ExitMessage("\"\(text)\" is no size: write 500KB, 64MB or 1GiB, for example", .usage) }
            return number * unit
        }
    }

    private static let units: [Substring: Int] = [
        "": 1, "kB": 1000, "KB": 1000, "MB": 1_000_000, "GB": 1_000_000_000,
        "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
    ]
}
