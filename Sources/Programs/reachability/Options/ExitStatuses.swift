import ArgumentParser
import CommandLineSupport
import LinuxSupport

/// Some of the exit statuses a command may fail with, as people write them: `6,7,28`, `1-9`, or both.
struct ExitStatuses: ExpressibleByArgument {
    private let text: String

    init(argument: String) {
        text = argument
    }

    /// - Throws: ``ExitMessage`` when the text is no such list, which is said in one sentence.
    var values: Set<CInt> {
        get throws(ExitMessage) {
            var values: Set<CInt> = []
            for part in text.split(at: ",", omittingEmptySubsequences: false) {
                let ends = part.split(at: "-", omittingEmptySubsequences: false).map(Self.status)
                guard ends.count <= 2, let first = ends.first ?? nil, let last = ends.last ?? nil, first <= last else {
                    throw ExitMessage(
                        "\"\(text)\" is no list of exit statuses from 1 to 255: write 6,7,28 or 1-9, for example",
                        .usage
                    )
                }
                values.formUnion(first...last)
            }
            return values
        }
    }

    /// 0 is a success, which nobody repeats.
    private static func status(_ digits: Substring) -> CInt? {
        guard digits.allSatisfy({ $0.isASCII && $0.isNumber }), let number = CInt(digits) else { return nil }
        return (1...255).contains(number) ? number : nil
    }
}
