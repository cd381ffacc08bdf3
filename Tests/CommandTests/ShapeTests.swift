import Foundation
import NetworkLab
import TestSupport
import Testing

/// Properties that all subcommands share.
@Suite struct ShapeTests {
    @Test func `every subcommand is on the list of tested subcommands`() async throws {
        let names = try await CommandTree.subcommands().map(\.name)
        #expect(Set(Subcommand.all.map(\.name)) == Set(names), "a new subcommand needs a line in Subcommand.all")
    }

    @Test func `help shows two examples that the command accepts`() async throws {
        for command in [try await CommandTree.read()] + (try await CommandTree.subcommands()) {
            let examples = try #require(command.paragraph("Examples: "), "\(command.name) shows no examples")
            // `check` shows both examples on one line.
            let lines = examples.split { $0 == "\n" || $0 == ";" }
            #expect(lines.count == 2, "\(command.name)")
            for line in lines { #expect(line.contains("reachability "), "\(line)") }
        }
    }

    @Test func `help lists exactly the documented exit statuses`() async throws {
        let document = try CommandDocument()
        for command in try await CommandTree.subcommands() {
            let told = try #require(command.paragraph("Exit status: "), "\(command.name) documents no exit status")
            let documented = try document.keys("Exit status", of: command.name).compactMap { Int($0) }
            #expect(
                Set(told.matches(of: #/\b\d+\b/#).compactMap { Int($0.output) }) == Set(documented),
                "\(command.name)"
            )
            // Each subcommand has a page with captured output.
            #expect(try document.page(of: command.name).contains("<!-- capture"))
        }
    }

    @Test func `every duration option refuses an invalid duration with the same message`() async throws {
        for command in try await CommandTree.subcommands() {
            let arguments = Subcommand.all.first { $0.name == command.name }?.arguments ?? []
            for option in command.arguments ?? [] where option.valueName == "duration" {
                let name = try #require(option.option)
                // Both texts look like options. ArgumentTests covers the other texts.
                for text in ["-1s", "--json"] {
                    try await Command.run(command.path + [name, text] + arguments)
                        .expectRefusal("\"\(text)\" is not a duration; write 500ms, 1.5s, 2m or 1h, for example")
                }
            }
        }
    }

    @Test func `names of network namespaces are completed`() async throws {
        let name = try await NamedNamespace.make()
        for command in try await CommandTree.subcommands()
        where command.arguments?.contains(where: { $0.option == "--netns" }) == true {
            let arguments = ["---completion"] + command.path + ["--", "--netns", "2", "0", ""]
            let result = try await Command.run(arguments)
            #expect(result.status == 0)
            #expect(result.lines.contains { $0 == name.name })
        }
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `the completion scripts are valid for their shell`(shell: String) async throws {
        let result = try await Command.run(["--generate-completion-script", shell])
        #expect(result.status == 0)
        let options = ["drop-oldest", "replace-corrupt"]
        for word in Subcommand.all.flatMap(\.words) + options { #expect(result.output.contains(word)) }
        guard Tools.has(shell) else { return }
        #expect(
            try await Command.run(script: "$R --generate-completion-script \(shell) | \(shell) -n /dev/stdin")
                == CommandResult(status: 0, output: "", errors: "")
        )
    }
}

/// Help is part of the interface: each text is compared completely.
@Suite struct HelpTests {
    /// Returns the expected text. The texts are beside this file, one per subcommand, and `reachability.txt` for the root.
    private static func expected(_ name: String) throws -> String {
        try Checkout.text("Tests/CommandTests/Help/\(name).txt")
    }

    @Test(arguments: [[], ["--help"], ["-h"], ["help"]])
    func `the root prints its subcommands`(arguments: [String]) async throws {
        try await expect(arguments, Self.expected("reachability"))
    }

    @Test(arguments: Subcommand.all)
    func `each subcommand prints its options and exit statuses`(subcommand: Subcommand) async throws {
        let text = try Self.expected(subcommand.words.joined(separator: "-"))
        try await expect(subcommand.words + ["--help"], text)
        // One subcommand of `reachability` itself, and one of a group.
        guard ["watch", "outbox add"].contains(subcommand.name) else { return }
        try await expect(subcommand.words + ["-h"], text)
        try await expect(["help"] + subcommand.words, text)
    }

    @Test func `each help text fits 80 columns`() throws {
        for name in ["reachability"] + Subcommand.all.map({ $0.words.joined(separator: "-") }) {
            for line in try Self.expected(name).split(separator: "\n") { #expect(line.count <= 80, "\(name): \(line)") }
        }
    }

    @Test(arguments: [["--version"], ["--version", "status"]])
    func `--version prints a name and a number`(arguments: [String]) async throws {
        let result = try await Command.run(arguments)
        #expect(result.status == 0)
        #expect(result.output.wholeMatch(of: /reachability \d+\.\d+\.\d+\n/) != nil)
        #expect(result.errors.isEmpty)
    }

    private func expect(_ arguments: [String], _ text: String) async throws {
        #expect(try await Command.run(arguments) == CommandResult(status: 0, output: text, errors: ""))
    }
}

/// Numbers, durations and times at the borders of their types on the command line: each is used or refused, and none ends the command by a
/// signal.
@Suite struct ExtremeArgumentTests {
    /// An option whose value is the `$V` of a shell command.
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
        let directory = ScratchDirectory()
        // Each exit status, and the number of lines on standard error.
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
            // A refusal is one sentence, or the parser's message with the usage.
            if status == 64 { #expect(1...5 ~= (Int(words[1]) ?? 0), "\(line)") }
        }
    }
}

/// Refusals of invalid arguments. Each is one sentence.
@Suite struct RefusalTests {
    @Test func `a refusal is one sentence on standard error`() async throws {
        let parsed = try await Command.run(["status", "--bogus"])
        #expect(parsed.status == 64 && parsed.output.isEmpty && parsed.errors.hasPrefix("Error: "), "\(parsed)")
        let words = ["status", "127.0.0.1", "x:1"]
        try await Command.run(words).expectRefusal(
            "\"x:1\" is neither a host name nor an address; use a name such as example.org or an address such as 192.0.2.1 or"
                + " 2001:db8::1, without scheme, port or brackets"
        )
        try await Command.run(["example.org", "-4"])
            .expectRefusal("no subcommand is given; did you mean: reachability status example.org -4")
        try await Command.run(["statsu", "localhost"])
            .expectRefusal("there is no subcommand statsu; did you mean: reachability status localhost")
        try await Command.run(["help", "outbox", "nope"])
            .expectRefusal("there is no subcommand nope; `reachability outbox --help` lists the subcommands")
        let missing =
            "cannot enter the network namespace /run/netns/nowhere: No such file or directory;"
            + " `ip netns list` shows the existing names"
        for words in [
            ["status"], ["watch"], ["why"], ["list"], ["watch", "--check"], ["wait", "--works"], ["why", "--active"],
        ] {
            try await Command.run(words + ["--netns", "nowhere"]).expectRefusal(missing)
        }
    }

    /// Subcommands of each companion program.
    @Test(arguments: [
        ("outbox list", "tools"), ("pin example.org", "tools"), ("trust example.org", "tools"), ("check", "tools"),
        ("serve", "tools"), ("download http://127.0.0.1:1/a", "tools"), ("fleet ca list /nowhere", "fleet"),
    ])
    func `a missing companion program is reported`(words: String, program: String) async throws {
        let directory = ScratchDirectory()
        let script = "cp $R \(directory.path)/reachability; \(directory.path)/reachability \(words)"
        let path = directory.file("reachability-\(program)")
        try await Command.run(script: script)
            .expectRefusal("cannot run \(path): No such file or directory; install it beside reachability", status: 69)
    }

    @Test func `a companion program is also found in libexec`() async throws {
        let directory = ScratchDirectory()
        let script = """
            cd \(directory.path) && mkdir -p bin libexec/reachability && cp $R bin/reachability
            ln -s $(dirname $R)/reachability-tools libexec/reachability/
            bin/reachability trust --policy /dev/null localhost
            """
        try await Command.run(script: script).expectRefusal("/dev/null:1:1: the file ends too early", status: 65)
    }

    /// A command line for each way of printing: by the parser, by the command, and by the companion programs.
    @Test(arguments: [
        ["\u{1b}c"], ["status", "--\u{1b}c"], ["status", "--mark", "\u{1b}c"], ["record", "/dev/null/\u{1b}c"],
        ["outbox", "list", "--outbox", "/nowhere/\u{1b}c"], ["download", "http://127.0.0.1:1/%1bc"],
        ["download", "--sha256", "\u{1b}c", "http://127.0.0.1:1/a"], ["trust", "--policy", "\u{1b}c", "example.org"],
        ["check", "a\u{1b}c"],
    ])
    func `no message sends a control character to the terminal`(arguments: [String]) async throws {
        let result = try await Command.run(arguments)
        #expect(result.status >= 64)
        #expect(result.output.isEmpty)
        #expect(!result.errors.isEmpty && !result.errors.contains("\u{1b}"), "\(result.errors.debugDescription)")
    }

    @Test func `a namespace without permission to enter it is exit status 77`() async throws {
        let name = try await NamedNamespace.make()
        let sentence =
            "cannot enter the network namespace /run/netns/\(name.name): Operation not permitted; entering another"
            + " namespace needs CAP_SYS_ADMIN"
        for subcommand in ["status", "watch"] {
            let result = try await Command.run(
                script:
                    "exec setpriv --bounding-set -sys_admin --inh-caps -sys_admin $R \(subcommand) --netns \(name.name)"
            )
            result.expectRefusal(sentence, status: 77)
        }
    }

    @Test func `a name that is not a namespace is refused`() async throws {
        let name = "file-\(UInt64.random(in: 0 ... .max))"
        let script =
            "mkdir -p /run/netns && touch /run/netns/\(name) && $R status --netns \(name); status=$?; rm /run/netns/\(name); exit $status"
        try await Command.run(script: script).expectRefusal(
            "cannot enter the network namespace /run/netns/\(name): Invalid argument; the file is not a network namespace"
        )
    }
}
