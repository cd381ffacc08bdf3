import Foundation
import NetworkLab
import TestSupport
import Testing

/// Numbers, durations and times at the borders of their types on the command line: each is used or refused, and none ends the command by a
/// signal.
@Suite struct ExtremeArgumentTests {
    /// An option whose value is the `$V` of a command line of the shell.
    struct Option: Sendable, CustomTestStringConvertible {
        let script: String
        let values: [String]
        var testDescription: String { script }

        static func durations(_ script: String) -> Option {
            Option(script: script, values: ExtremeValues.durations + ["", "9223372036854775807"])
        }

        static func numbers(_ script: String) -> Option {
            Option(
                script: script,
                values: ExtremeValues.integers.map(String.init) + ["", "1e400", "9223372036854775808"]
            )
        }
    }

    static let options: [Option] = [
        .durations("timeout 1 $R watch --settle $V 127.0.0.1"),
        .durations("timeout 1 $R wait --timeout $V 127.0.0.1"),
        .durations("timeout 1 $R wait --stable $V 127.0.0.1"),
        .durations("timeout 1 $R run --settle $V --kill-after $V -- true"),
        .durations("timeout 5 $R retry --attempts 1 --deadline $V --kill-after $V -- true"),
        .durations("timeout 5 $R check --timeout $V --interval $V 127.0.0.1"),
        .durations("timeout 5 $R pin --time-limit $V 127.0.0.1:1"),
        .durations("timeout 5 $R trust --time-limit $V 127.0.0.1:1"),
        .durations("timeout 5 $R download --deadline $V --output /nowhere/a http://127.0.0.1:1/"),
        .durations("$R outbox add --outbox $D/o --expires $V http://127.0.0.1:1/ && $R outbox list --outbox $D/o"),
        .durations("timeout 5 $R outbox flush --outbox $D/o --timeout $V"),
        .durations("$R availability --window $V --socket /nowhere"),
        .durations("$R maintenance work --for $V --socket /nowhere"),
        Option(
            script: "$R outages --since $V --socket /nowhere",
            values: ExtremeValues.times + ExtremeValues.durations + [""]
        ),
        .numbers("$R outages --limit $V --socket /nowhere"),
        .numbers("timeout 1 $R check --count $V --interval 1h 127.0.0.1"),
        .numbers("timeout 5 $R check --rate $V 127.0.0.1 127.0.0.2"),
        .numbers("timeout 5 $R retry --attempts $V -- true"),
        .numbers("$R outbox add --outbox $D/p --priority $V http://127.0.0.1:1/ && $R outbox list --outbox $D/p"),
        .numbers("$R outbox add --outbox $D/m --max-count $V http://127.0.0.1:1/"),
        .numbers("timeout 5 $R outbox flush --outbox $D/m --with true --attempts $V"),
        .numbers("timeout 1 $R record --limit $V $D/r 127.0.0.1; rm -f $D/r"),
        .numbers("$R status --mark $V 127.0.0.1"),
        .numbers("$R list --netns $V"),
    ]

    @Test(arguments: options) func `any value is used or refused`(option: Option) async throws {
        let directory = try ScratchDirectory()
        // The status of each, and the number of lines on standard error.
        let script = """
            D=\(directory.path)
            for V in \(option.values.map { "'\($0)'" }.joined(separator: " ")); do
                export V; (\(option.script.replacing("$V", with: "\"$V\""))) >/dev/null 2>$D/errors
                echo "$? $(wc -l <$D/errors) $V"
            done
            """
        let lines = try await Command.run(script: script).lines
        #expect(lines.count == option.values.count)
        for line in lines {
            let words = line.split(separator: " ", maxSplits: 2).map(String.init)
            let status = try #require(Int(words[0]))
            #expect(status < 128, "\(line)")
            // A refusal is one sentence, or that of the parser with its usage.
            if status == 64 { #expect(1...5 ~= (Int(words[1]) ?? 0), "\(line)") }
        }
    }
}
