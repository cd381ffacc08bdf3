import ArgumentParser
import LinuxSupport

/// A length of time as people write it: a number and `ms`, `s`, `m`, `h` or `d`, for example `500ms`, `1.5s`, `2m` or `1h`.
///
/// Options of this type parse with `.unconditional`, so that `-1s` is refused as what it is instead of being taken for an
/// option, and have the value name `duration`, by which the tests find them.
package struct DurationArgument: ExpressibleByArgument {
    package let text: String

    package init(argument: String) {
        text = argument
    }

    package var defaultValueDescription: String { text }

    /// - Throws: ``ExitMessage`` for another text, and for more than ``DurationText/longest``, so that sums cannot overflow.
    package var value: Duration {
        get throws {
            guard let duration = DurationText.duration(text) else {
                throw ExitMessage("\"\(text)\" is no duration: write 500ms, 1.5s, 2m or 1h, for example", .usage)
            }
            guard duration <= DurationText.longest else {
                let longest = DurationText.text(DurationText.longest)
                throw ExitMessage("\"\(text)\" is too long: a duration is at most \(longest)", .usage)
            }
            return duration
        }
    }
}
