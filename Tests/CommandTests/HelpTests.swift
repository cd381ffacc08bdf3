import Testing

/// Help is part of the interface: each text is compared whole.
@Suite struct HelpTests {
    private static let common = """
          --netns <name>          The network namespace to ask in, as `ip netns` names
                                  it.
          --mark <mark>           The firewall mark packets will carry, decimal or 0x
                                  hexadecimal.
          --json                  Print one JSON object per line (schema 1).
          -v, --verbose           Log to standard error what is heard and decided.
          --no-filter             Hear of every route change, not only of those that
                                  matter.

        """

    private static let end = """
          --version               Show the version.
          -h, --help              Show help information.


        """

    private static let root = """
        OVERVIEW: Tells whether packets would get through, and when that changes.

        The answer is the kernel's own, asked for each destination: route, source
        address and carrier. No packet is sent.

        USAGE: reachability <subcommand>

        OPTIONS:
          --version               Show the version.
          -h, --help              Show help information.

        SUBCOMMANDS:
          watch                   Print the state, then a line for each change, until
                                  interrupted.
          status                  Print the state once.
          record                  Watch, and record everything into a file for `replay`.
          replay                  Print what watch would have printed while a recording
                                  was made.

          See 'reachability help <subcommand>' for detailed help.

        """

    private static let watch =
        """
        OVERVIEW: Print the state, then a line for each change, until interrupted.

        A line is printed when the status changes; more often with --flags or --paths.
        Ends with status 0 on SIGINT, SIGTERM and when its reader goes away. On SIGUSR1
        it writes to standard error what it has done so far, on one line.

        USAGE: reachability watch [<hosts> ...] [--netns <name>] [--mark <mark>] [--json] \
        [--verbose] [--no-filter] [--flags] [--paths] [--settle <duration>] [--all-netns] [--file <file>] [--strict]

        ARGUMENTS:
          <hosts>                 Names or addresses; none means the network at large.

        OPTIONS:

        """ + common + """
              --flags                 Also print changes of the flags.
              --paths                 Also print changes of interface, gateway and source.
              --settle <duration>     Print a change only when it has held for so long:
                                      500ms, 2s, 1m.
              --all-netns             Watch the current network namespace and every named
                                      one, as they come and go.
              --file <file>           Watch the hosts in a file, one a line; - is standard
                                      input. SIGHUP reads it again.
              --strict                Refuse a file with lines that are no hosts, instead
                                      of leaving them out.

            """ + end

    private static let status =
        """
        OVERVIEW: Print the state once.

        Exit status: 0 reachable, 1 not reachable, 2 unknown, 64 usage, 74 output
        failed, 77 no permission. Of several hosts, one that is not reachable decides,
        then one that is unknown.

        USAGE: reachability status [<hosts> ...] [--netns <name>] [--mark <mark>] [--json] [--verbose] [--no-filter]

        ARGUMENTS:
          <hosts>                 Names or addresses; none means the network at large.

        OPTIONS:

        """ + common + end

    private static let record = """
        OVERVIEW: Watch, and record everything into a file for `replay`.

        Also takes --netns, --mark, --json, --verbose and --no-filter. Signals and the
        limit end it; a reader of its output that goes away does not.

          reachability record trouble.nlrec
          reachability record --redact --quiet trouble.nlrec example.org

        USAGE: reachability record [<options>] <file> [<host> ...]

        ARGUMENTS:
          <file>                  Where to record; a file that is there is not touched.

        OPTIONS:
          --flags                 Also print changes of the flags.
          --paths                 Also print changes of interface, gateway and source.
          -q, --quiet             Print nothing.
          --redact                Record other addresses and names than the real ones.
          --force                 Replace a file that is there.
          --limit <size>          End before the file is larger. (default: 64MB)
          --version               Show the version.
          -h, --help              Show help information.


        """

    private static let replay = """
        OVERVIEW: Print what watch would have printed while a recording was made.

        The same file prints the same, with the times of the recording. A file that is
        cut off or damaged is played up to there, and the exit status is 65.

          reachability replay --paths trouble.nlrec
          reachability replay --redact-to public.nlrec trouble.nlrec

        USAGE: reachability replay [<options>] <file>

        ARGUMENTS:
          <file>                  A file that `record` made.

        OPTIONS:
          --json                  Print one JSON object per line (schema 1).
          --flags                 Also print changes of the flags.
          --paths                 Also print changes of interface, gateway and source.
          --speed <factor>        Play so many times as fast as it was; 1 is as it was.
          --redact-to <file>      Play nothing; make a copy with other addresses and
                                  names.
          --version               Show the version.
          -h, --help              Show help information.


        """

    @Test(arguments: [[], ["--help"], ["-h"], ["help"]])
    func `the root tells what there is`(arguments: [String]) async throws {
        try await expect(arguments, Self.root)
    }

    @Test(arguments: [["watch", "--help"], ["watch", "-h"], ["help", "watch"]])
    func `watch tells its options`(arguments: [String]) async throws {
        try await expect(arguments, Self.watch)
    }

    @Test(arguments: [["status", "--help"], ["status", "-h"], ["help", "status"]])
    func `status tells its options and exit statuses`(arguments: [String]) async throws {
        try await expect(arguments, Self.status)
    }

    @Test func `record and replay fit a screen`() async throws {
        for (name, text) in [("record", Self.record), ("replay", Self.replay)] {
            try await expect([name, "--help"], text)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.count <= 24)
            #expect(lines.allSatisfy { $0.count <= 80 })
        }
    }

    @Test func `the version is a number`() async throws {
        let result = try await Command.run(["--version"])
        #expect(result.status == 0)
        #expect(result.output.wholeMatch(of: /\d+\.\d+\.\d+\n/) != nil)
        #expect(result.errors.isEmpty)
    }

    @Test(arguments: [
        ["bogus"], ["--bogus"], ["status", "--bogus"], ["watch", "--bogus"], ["status", "--flags"],
        ["status", "--netns"], ["watch", "--mark"], ["status", "--mark", "red"], ["status", "--mark", "-1"],
        ["status", "--mark", "0x100000000"], ["status", "--mark", ""], ["status", "--mark", "0x"],
    ])
    func `what is no option is refused`(arguments: [String]) async throws {
        let result = try await Command.run(arguments)
        #expect(result.status == 64)
        #expect(result.output.isEmpty)
        #expect(result.errors.hasPrefix("Error: "))
    }

    private func expect(_ arguments: [String], _ text: String) async throws {
        #expect(try await Command.run(arguments) == CommandResult(status: 0, output: text, errors: ""))
    }
}
