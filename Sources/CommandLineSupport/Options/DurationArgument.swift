import ArgumentParser

/// A length of time as people write it: a whole number and `ms`, `s` or `m`, for example `500ms`, `2s` or `1m`.
///
/// Options of this type parse with `.unconditional`, so that `-1s` is refused as what it is instead of being taken for an
/// option, and have the value name `duration`, by which the tests find them.
package struct DurationArgument: ExpressibleByArgument {
    package let text: String

    package init(argument: String) {
        text = argument
    }

    package var defaultValueDescription: String { text }

    /// - Throws: ``ExitMessage`` when the text is no such length, which is said in one sentence.
    package var value: Duration {
        get throws {
            let digits = text.prefix { $0.isASCII && $0.isNumber }
            guard let number = Int64(digits), let unit = Self.units[text.dropFirst(digits.count)],
                number <= Int64.max / unit
            else { throw ExitMessage("\"\(text)\" is no duration: write 500ms, 2s or 1m, for example", .usage) }
            return .milliseconds(number * unit)
        }
    }

    /// Milliseconds of each unit.
    private static let units: [Substring: Int64] = ["ms": 1, "s": 1000, "m": 60_000]
}
