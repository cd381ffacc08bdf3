import NetworkLab
import Testing

/// What cannot be asked about is refused with one sentence.
@Suite struct RefusalTests {
    private static let encodingAdvice =
        "cannot be encoded as a host name (IDNA): labels of other scripts have letters, digits and hyphens only; give it as xn-- labels"
        + " if it has such a form"
    private static let advice =
        "is neither a host name nor an address: give a name such as example.org or an address such as 192.0.2.1 or"
        + " 2001:db8::1, without scheme, port or brackets"

    @Test(arguments: [
        "", "http://x", "https://example.org/", "a b", "host:80", "192.0.2.1:80", "[::1]", "[2001:db8::1]:443", "10.1",
        "1", "-", "a..b", ".", "10.0.0.0/8", "::1/128", "192.0.2.1%", "fe80::1%", "256.1.1.1",
    ])
    func `no host`(text: String) async throws {
        for subcommand in ["status", "watch"] {
            try await Command.run([subcommand, "--", text]).expectRefusal("\"\(text)\" \(Self.advice)")
        }
    }

    @Test(arguments: [
        ("\u{7}", "\\u{7}"), ("a\nb", "a\\u{a}b"), ("\u{1b}[31mred", "\\u{1b}[31mred"), ("\u{9b}31m", "\\u{9b}31m"),
        ("gro.\u{202e}example", "gro.\\u{202e}example"), ("\u{7f}", "\\u{7f}"),
    ])
    func `what would steer a terminal is shown in refusals`(text: String, shown: String) async throws {
        let isASCII = text.utf8.allSatisfy { $0 < 0x80 }
        let advice = isASCII ? Self.advice : Self.encodingAdvice
        try await Command.run(["status", "--", text]).expectRefusal("\"\(shown)\" \(advice)")
    }

    @Test(arguments: [
        ["\u{1b}c"], ["--\u{1b}c"], ["status", "--\u{1b}c"], ["status", "--mark", "\u{1b}c"],
        ["status", "--netns", "\u{1b}c"], ["watch", "--settle", "\u{1b}c"], ["watch", "--file", "\u{1b}c"],
        ["record", "\u{1b}c"],
        ["record", "/dev/null/\u{1b}c"], ["replay", "\u{1b}c"],
        ["wait", "--interface", "\u{1b}c/"], ["wait", "--dns", "\u{1b}c"],
        ["run", "--hooks", "\u{1b}c"], ["retry", "--on-exit", "\u{1b}c", "--", "true"],
        ["outbox", "list", "--outbox", "/nowhere/\u{1b}c"], ["outbox", "add", "\u{1b}c", "--outbox", "/nowhere/a"],
        ["download", "\u{1b}c"], ["download", "--output", "/nowhere/\u{1b}c", "http://127.0.0.1:1/"],
        ["download", "--sha256", "\u{1b}c", "http://127.0.0.1:1/a"], ["download", "http://127.0.0.1:1/%1bc"],
        ["pin", "\u{1b}c"], ["trust", "--policy", "\u{1b}c", "example.org"],
    ])
    func `no message sends a control character to the terminal`(arguments: [String]) async throws {
        let result = try await Command.run(arguments)
        #expect(result.status >= 64)
        #expect(result.output.isEmpty)
        #expect(!result.errors.isEmpty && !result.errors.contains("\u{1b}"), "\(result.errors.debugDescription)")
    }

    @Test func `link-local without an interface`() async throws {
        let sentence = "fe80::1 is link-local and needs the interface it is meant on: write fe80::1%eth0, for example"
        try await Command.run(["status", "fe80::1"]).expectRefusal(sentence)
        try await Command.run(["watch", "fe80::1"]).expectRefusal(sentence)
    }

    @Test func `one bad host among good ones: nothing is printed`() async throws {
        try await Command.run(["status", "127.0.0.1", "x:1"]).expectRefusal("\"x:1\" \(Self.advice)")
    }

    @Test(arguments: [
        "2", "s", "ms", "-1s", "+2s", "1.5.1s", "1.s", ".5s", ".s", "1.0000001s", "1,5s", "2 s", "2w", "2S", "\u{662}s",
        "99999999999999999999s", "9223372036854775807m",
    ])
    func `no duration`(text: String) async throws {
        try await Command.run(["watch", "--settle=\(text)"])
            .expectRefusal("\"\(text)\" is no duration: write 500ms, 1.5s, 2m or 1h, for example")
    }

    @Test(arguments: ["", ".", ".."])
    func `no name of a namespace`(name: String) async throws {
        for subcommand in ["status", "watch"] {
            try await Command.run([subcommand, "--netns", name])
                .expectRefusal("\"\(name)\" is no name, path or process of a network namespace")
        }
    }

    @Test func `a namespace that is missing`() async throws {
        let sentence =
            "cannot enter the network namespace /run/netns/no-such-namespace: No such file or directory:"
            + " `ip netns list` shows the names there are"
        try await Command.run(["status", "--netns", "no-such-namespace"]).expectRefusal(sentence)
        try await Command.run(["watch", "--netns", "no-such-namespace"]).expectRefusal(sentence)
    }

    @Test(arguments: [
        ["example.org"], ["192.0.2.1", "--json"], ["::1"], ["example.org", "watch"], ["localhost"], ["router", "-4"],
    ])
    func `a host without a subcommand`(words: [String]) async throws {
        try await Command.run(words).expectRefusal(
            "no subcommand is given; did you mean: reachability status \(words.joined(separator: " "))"
        )
    }

    @Test(arguments: [("statsu", "status"), ("wacth", "watch"), ("lst", "list"), ("whi", "why"), ("retyr", "retry")])
    func `a mistyped subcommand`(word: String, name: String) async throws {
        try await Command.run([word, "localhost"]).expectRefusal(
            "there is no subcommand \(word); did you mean: reachability \(name) localhost"
        )
    }

    @Test func `help for what is no subcommand`() async throws {
        try await Command.run(["help", "nope"])
            .expectRefusal("there is no subcommand nope: `reachability --help` shows those there are")
        try await Command.run(["help", "outbox", "nope"])
            .expectRefusal("there is no subcommand nope: `reachability outbox --help` shows those there are")
        #expect(try await Command.run(["help", "outbox", "add"]).status == 0)
    }

    @Test(arguments: ["192.0.2.1", "2001:db8::1"])
    func `an address is no name to resolve`(address: String) async throws {
        try await Command.run(["wait", "--dns", address]).expectRefusal(
            "\(address) is an address, and --dns waits for a name: did you mean: reachability wait \(address)"
        )
    }

    @Test func `a process that is not there`() async throws {
        try await Command.run(["status", "--netns", "2147483647"]).expectRefusal("there is no process 2147483647")
        try await Command.run(["status", "--netns", "/proc/2147483647/ns/net"])
            .expectRefusal("there is no process 2147483647")
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
