import ArgumentParser
import LinuxPrimitives

/// A number of things that an option limits.
package struct CountArgument: ExpressibleByArgument {
    private let text: String

    package init(argument: String) {
        text = argument
    }

    /// - Throws: ``ExitMessage`` for a text that is not a number from 1.
    package func value(_ option: String) throws(ExitMessage) -> Int {
        guard let value = Int(text), value >= 1 else {
            throw ExitMessage("cannot use \(option) \"\(text.printable)\": write a number from 1 to \(Int.max)", .usage)
        }
        return value
    }
}

/// A moment in the past: a duration before now, or a time of RFC 3339.
package struct PastArgument: ExpressibleByArgument {
    private let text: String

    package init(argument: String) {
        text = argument
    }

    /// Returns the time since 1970.
    ///
    /// - Throws: ``ExitMessage`` for another text.
    package func real(before now: Duration) throws(ExitMessage) -> Duration {
        if let real = Timestamp.real(of: text) { return real }
        if let age = DurationText.duration(text), age <= DurationText.longest { return now - age }
        let hint = "write a duration such as 24h, at most \(DurationText.text(DurationText.longest)), or a time such as 2026-11-21T08:15:30Z"
        throw ExitMessage("cannot use the time \"\(text.printable)\": \(hint)", .usage)
    }
}
