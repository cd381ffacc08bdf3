import NetworkLab
import Testing

/// What cannot be asked about is refused with one sentence.
@Suite struct RefusalTests {
    @Test func `a refusal is one sentence on standard error`() async throws {
        let parsed = try await Command.run(["status", "--bogus"])
        #expect(parsed.status == 64 && parsed.output.isEmpty && parsed.errors.hasPrefix("Error: "), "\(parsed)")
        let words = ["status", "127.0.0.1", "x:1"]
        try await Command.run(words).expectRefusal(
            "\"x:1\" is neither a host name nor an address: give a name such as example.org or an address such as 192.0.2.1 or"
                + " 2001:db8::1, without scheme, port or brackets"
        )
        try await Command.run(["example.org", "-4"])
            .expectRefusal("no subcommand is given; did you mean: reachability status example.org -4")
        try await Command.run(["statsu", "localhost"])
            .expectRefusal("there is no subcommand statsu; did you mean: reachability status localhost")
        try await Command.run(["help", "outbox", "nope"])
            .expectRefusal("there is no subcommand nope: `reachability outbox --help` shows those there are")
        let missing =
            "cannot enter the network namespace /run/netns/nowhere: No such file or directory:"
            + " `ip netns list` shows the names there are"
        for subcommand in ["status", "watch", "why", "list"] {
            try await Command.run([subcommand, "--netns", "nowhere"]).expectRefusal(missing)
        }
    }

    /// Subcommands of each companion program.
    @Test(arguments: [
        ("outbox list", "tools"), ("pin example.org", "tools"), ("trust example.org", "tools"), ("check", "tools"),
        ("serve", "tools"), ("download http://127.0.0.1:1/a", "tools"), ("fleet ca list /nowhere", "fleet"),
    ])
    func `without its other program the command says what is missing`(words: String, program: String) async throws {
        let directory = try ScratchDirectory()
        let script = "cp $R \(directory.path)/reachability; \(directory.path)/reachability \(words)"
        let path = directory.file("reachability-\(program)")
        try await Command.run(script: script)
            .expectRefusal("cannot run \(path): No such file or directory: install it beside reachability", status: 69)
    }

    @Test func `the other program is also found in libexec`() async throws {
        let directory = try ScratchDirectory()
        let script = """
            cd \(directory.path) && mkdir -p bin libexec/reachability && cp $R bin/reachability
            ln -s $(dirname $R)/reachability-tools libexec/reachability/
            bin/reachability trust --policy /dev/null localhost
            """
        try await Command.run(script: script).expectRefusal("/dev/null:1:1: the file ends too early", status: 65)
    }

    /// One command line for each way of printing: by the parser, by the command and by the companion programs.
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

    @Test(arguments: ["192.0.2.1", "2001:db8::1"])
    func `an address is no name to resolve`(address: String) async throws {
        try await Command.run(["wait", "--dns", address]).expectRefusal(
            "\(address) is an address, and --dns waits for a name: did you mean: reachability wait \(address)"
        )
    }

    @Test func `a namespace that may not be entered`() async throws {
        let name = try await NamedNamespace.make()
        let sentence =
            "cannot enter the network namespace /run/netns/\(name.name): Operation not permitted: entering another"
            + " namespace needs CAP_SYS_ADMIN"
        for subcommand in ["status", "watch"] {
            let result = try await Command.run(
                script:
                    "exec setpriv --bounding-set -sys_admin --inh-caps -sys_admin $R \(subcommand) --netns \(name.name)"
            )
            result.expectRefusal(sentence, status: 77)
        }
    }

    @Test(.enabled(if: Tools.hasOtherUsers))
    func `an ordinary user may not enter either`() async throws {
        let name = try await NamedNamespace.make()
        // The binary may lie where that user cannot go, so it is started from a copy.
        let script = """
            d=$(mktemp -d) && cp "$R" $d/reachability && chmod 755 $d || exit
            setpriv --reuid 65534 --regid 65534 --clear-groups $d/reachability status --netns \(name.name)
            status=$?; rm -r $d; exit $status
            """
        let result = try await Command.run(script: script)
        result.expectRefusal(
            "cannot enter the network namespace /run/netns/\(name.name): Operation not permitted: entering another"
                + " namespace needs CAP_SYS_ADMIN",
            status: 77
        )
    }

    @Test func `a name that stands for no namespace`() async throws {
        let name = "file-\(UInt64.random(in: 0 ... .max))"
        let script =
            "mkdir -p /run/netns && touch /run/netns/\(name) && $R status --netns \(name); status=$?; rm /run/netns/\(name); exit $status"
        try await Command.run(script: script).expectRefusal(
            "cannot enter the network namespace /run/netns/\(name): Invalid argument: the file is no network namespace"
        )
    }
}
