import Testing

/// Help is part of the interface: each text is compared whole.
@Suite struct HelpTests {
    private static let common = """
          --netns <name>          The network namespace to ask in, of `ip netns`.
          --mark <mark>           The firewall mark packets will carry: 51966, 0xcafe.
          --json                  Print one JSON object per line (schema 1).
          -v, --verbose           Log to standard error what is heard and decided.

        """

    private static let end = """
          -h, --help              Show help information.

        """

    private static let root = """
        OVERVIEW: Tells whether packets would get through, and when that changes.

        Examples: reachability status
                  reachability watch example.org
        Exit status: as each subcommand tells; 64 usage, 74 output failed.

        USAGE: reachability [--version] <subcommand>

        OPTIONS:
          --version               Show the version.
          -h, --help              Show help information.

        SUBCOMMANDS:
          watch                   Print the state, then each change, until interrupted.
          status                  Print the state once.

          See 'reachability help <subcommand>' for detailed help.

        """

    private static let watch =
        """
        OVERVIEW: Print the state, then each change, until interrupted.

        Examples: reachability watch --settle 2s example.org 2001:db8::1
                  reachability watch --json --file hosts.txt
        Exit status: 0 ended, 64 usage, 65 bad line, 66 no file, 74 output, 77 denied.

        USAGE: reachability watch [<host> ...] [<options>]

        ARGUMENTS:
          <host>                  Names or addresses; none means the network at large.

        OPTIONS:

        """ + common + """
              --flags                 Also print changes of the flags.
              --paths                 Also print changes of interface, gateway, source.
              --settle <duration>     Print only what has held for so long: 500ms, 2s, 1m.
              --all-netns             Watch the current and every named network namespace.
              --file <file>           Hosts, one a line; - is stdin. SIGHUP reads it again.
              --strict                Refuse a file that has a line which is no host.

            """ + end

    private static let status =
        """
        OVERVIEW: Print the state once.

        Examples: reachability status example.org && git pull
                  reachability status --json --netns blue 192.0.2.1
        Exit status: 0 reachable, 1 not reachable, 2 unknown, 64 usage, 74 output
        failed, 77 no permission. Of several hosts, one that is not reachable decides,
        then one that is unknown.

        USAGE: reachability status [<host> ...] [<options>]

        ARGUMENTS:
          <host>                  Names or addresses; none means the network at large.

        OPTIONS:

        """ + common + end

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

    @Test(arguments: [["--version"], ["--version", "status"]])
    func `the version is a name and a number`(arguments: [String]) async throws {
        let result = try await Command.run(arguments)
        #expect(result.status == 0)
        #expect(result.output.wholeMatch(of: /reachability \d+\.\d+\.\d+\n/) != nil)
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
