import ArgumentParser
import LinuxSupport

/// A moment in the past: a duration before now, or a time of RFC 3339.
package struct PastArgument: ExpressibleByArgument {
    private let text: String

    package init(argument: String) {
        text = argument
    }

    /// Returns the time since 1970.
    ///
    /// - Throws: ``ExitMessage`` for another text.
    package func real(before now: Duration) throws -> Duration {
        if let real = Timestamp.real(of: text) { return real }
        if DurationText.duration(text) != nil { return now - (try DurationArgument(argument: text).value) }
        let hint = "write a duration such as 24h, or a time such as 2026-11-21T08:15:30Z"
        throw ExitMessage("cannot use the time \"\(text.printable)\": \(hint)", .usage)
    }
}

extension ParsableArguments {
    /// Checks a number of the command line.
    ///
    /// - Throws: `ValidationError` for a number outside the range. The default maximum leaves room for sums and products.
    package func check(_ option: String, _ value: Int?, in range: ClosedRange<Int> = 1...1_000_000_000) throws {
        if let value, !range.contains(value) {
            throw ValidationError("\(option) is a number from \(range.lowerBound) to \(range.upperBound).")
        }
    }
}
