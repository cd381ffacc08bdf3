import ArgumentParser
import CommandLineSupport
import LinuxSupport

/// A number of bytes, as `SizeText` reads it.
struct SizeArgument: ExpressibleByArgument {
    let text: String

    init(argument: String) {
        text = argument
    }

    var defaultValueDescription: String { text }

    /// - Throws: ``ExitMessage`` when the text is no such number, which is said in one sentence.
    var bytes: Int {
        get throws {
            guard let bytes = SizeText.bytes(text)
            else { throw ExitMessage("\"\(text)\" is no size: write 500KB, 64MB or 1GiB, for example", .usage) }
            return bytes
        }
    }
}
