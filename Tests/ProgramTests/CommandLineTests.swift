import ArgumentParser
import CommandLineSupport
import Testing

@testable import reachability

/// Command lines that the command refuses before it contacts the kernel or a server.
@Suite struct CommandLineTests {
    /// A command line, and the text after `Error: `; an empty text stands for any text of the parser.
    private static let wrong: [([String], String)] = [
        (["--bogus"], ""), (["watch", "--bogus"], ""), (["status", "--bogus"], ""), (["status", "--flags"], ""),
        (["status", "--netns"], ""), (["watch", "--mark"], ""), (["status", "--mark", "red"], ""),
        (["status", "--mark", "-1"], ""), (["status", "--mark", "0x100000000"], ""), (["status", "--mark", ""], ""),
        (["status", "--mark", "0x"], ""), (["status", "-4", "-6"], ""), (["why", "-4", "-6"], ""),
        (["why", "a.example", "b.example"], ""), (["why", "--mark", "red"], ""),
        (["status", "--all-netns", "--netns", "blue"], "--all-netns and --netns exclude each other."),
        (["watch", "--all-netns", "--netns", "blue"], "--all-netns and --netns exclude each other."),
        (["watch", "--file", "/dev/null", "--all-netns"], "--all-netns and --file exclude each other."),
        (["watch", "--strict", "192.0.2.1"], "--strict needs --file."),
        (["watch", "--check", "--paths"], "--check excludes --file, --all-netns, --flags, --paths and --settle."),
        (["watch", "--anchor", "http://192.0.2.1/"], "--anchor, --resolve and --dns need --check."),
        (["watch", "--dns", "192.0.2.1"], "--anchor, --resolve and --dns need --check."),
        (["wait", "--resolve", "a.example=192.0.2.1"], "--anchor and --resolve need --works."),
        (["wait", "--works", "--stable", "1s"], "--works excludes --route, --interface, --for and --stable."),
        (["wait", "--for", "ever"], ""), (["wait", "--route", "10.0.0.1/8"], ""), (["wait", "--route", "x"], ""),
        (["wait", "--any", "--all"], ""),
        (["list", "--json", "--table"], ""), (["list", "eth0"], ""), (["list", "--netns"], ""),
        (["run"], "Give a command after --, or --hooks."), (["run", "--"], "Give a command after --, or --hooks."),
        (["run", "true"], "Give a command after --, or --hooks."),
        (["run", "--hooks", "/etc", "--", "true"], "A command and --hooks exclude each other."),
        (["run", "--on", "x", "--", "true"], "The value 'x' is invalid for '--on <event>'"),
        (["retry"], "Give a command after --."), (["retry", "--"], "Give a command after --."),
        (["retry", "true"], "Give a command after --."),
        (["retry", "a", "--host", "b", "--", "true"], "Give one host."),
        (["retry", "--attempts", "x", "--", "true"], "The value 'x' is invalid for '--attempts <number>'"),
        (["replay"], ""), (["replay", "--speed", "0", "a.nlrec"], "--speed takes a number above 0."),
        (["check", "--count", "-1"], "--count takes a number from 0 to 1000000000."),
        (["check", "--rate", "0"], "--rate takes a number from 1 to 1000000."),
        (["check", "--family", "5"], "--family takes 4 or 6."),
        (["check", "--private", "192.0.2.1"], "--private sends probes only to the local network: omit the targets."),
        (
            ["check", "--private", "--file", "/dev/null"],
            "--private sends probes only to the local network: omit the targets."
        ),
        (
            ["check", "--private", "--anchor", "http://192.0.2.1/"],
            "--private sends probes only to the local network: omit --anchor."
        ),
        (
            ["outbox", "add", "--max-count", "0", "http://127.0.0.1/"],
            "--max-count takes a number from 1 to 1000000000."
        ),
        (
            ["outbox", "add", "--max-count", "-1", "http://127.0.0.1/"],
            "--max-count takes a number from 1 to 1000000000."
        ),
        (["outbox", "list", "--file", "a", "--outbox", "b"], "--file and --outbox are the same: give one."),
        (["outbox", "flush", "--with", "curl"], "curl is not needed: omit --with"),
        (["outbox", "flush", "--with", "/usr/bin/curl"], "curl is not needed: omit --with"),
        (
            ["fleet", "ca", "sign", "--hub", "--server", "a", "b", "c"],
            "--hub and --server exclude each other."
        ),
        (
            ["fleet", "enroll", "--device", "a", "--directory", "b", "--authority", "x"],
            "--authority needs --install."
        ),
    ]

    @Test(arguments: wrong) func `an invalid option is a usage error`(words: [String], text: String) {
        do {
            _ = try ReachabilityCommand.parseAsRoot(words)
            Issue.record("an invalid command line was accepted")
        } catch {
            #expect(ReachabilityCommand.exitCode(for: error).rawValue == ExitMessage.Status.usage.rawValue)
            #expect(ReachabilityCommand.fullMessage(for: error).hasPrefix("Error: \(text)"))
        }
    }

    private static let mistyped: [([String], String)] = [
        (["statsu", "localhost"], "there is no subcommand statsu; did you mean: reachability status localhost"),
        (["wacth", "localhost"], "there is no subcommand wacth; did you mean: reachability watch localhost"),
        (["lst"], "there is no subcommand lst; did you mean: reachability list"),
        (["whi", "a"], "there is no subcommand whi; did you mean: reachability why a"),
        (["retyr", "a"], "there is no subcommand retyr; did you mean: reachability retry a"),
        (["example.org"], "no subcommand is given; did you mean: reachability status example.org"),
        (["192.0.2.1", "--json"], "no subcommand is given; did you mean: reachability status 192.0.2.1 --json"),
        (["::1"], "no subcommand is given; did you mean: reachability status ::1"),
        (["example.org", "watch"], "no subcommand is given; did you mean: reachability status example.org watch"),
        (["router", "-4"], "no subcommand is given; did you mean: reachability status router -4"),
        (["\u{1b}c"], "no subcommand is given; did you mean: reachability status \\u{1b}c"),
    ]

    @Test(arguments: mistyped)
    func `a first word that is not a subcommand gets a suggestion`(words: [String], sentence: String) {
        #expect(MistypedWord.subcommand(of: ReachabilityCommand.self, words)?.text == sentence)
    }

    @Test func `a subcommand, an option and help are not mistyped words`() {
        for words in [[], ["status", "x"], ["--version"], ["help", "nope"]] {
            #expect(MistypedWord.subcommand(of: ReachabilityCommand.self, words) == nil)
        }
        for words in [["help"], ["help", "outbox", "add"], ["help", "status", "--json"], ["status", "nope"]] {
            #expect(MistypedWord.help(of: ReachabilityCommand.self, words) == nil)
        }
    }

    @Test(arguments: [
        (["help", "nope"], "there is no subcommand nope; `reachability --help` lists the subcommands"),
        (
            ["help", "outbox", "nope"],
            "there is no subcommand nope; `reachability outbox --help` lists the subcommands"
        ),
    ])
    func `help for an unknown word points to the list of subcommands`(words: [String], sentence: String) {
        #expect(MistypedWord.help(of: ReachabilityCommand.self, words)?.text == sentence)
    }

    private static let hostAdvice =
        "is neither a host name nor an address; use a name such as example.org or an address such as 192.0.2.1 or"
        + " 2001:db8::1, without scheme, port or brackets"
    private static let encodingAdvice =
        "cannot be encoded as a host name (IDNA): labels of other scripts have letters, digits and hyphens only; give it as xn-- labels"
        + " if it has such a form"

    @Test(arguments: [
        "", "http://x", "https://example.org/", "a b", "host:80", "192.0.2.1:80", "[::1]", "[2001:db8::1]:443", "10.1",
        "1", "-", "a..b", ".", "10.0.0.0/8", "::1/128", "192.0.2.1%", "fe80::1%", "256.1.1.1",
    ])
    func `a text that is neither a name nor an address is refused`(text: String) throws {
        let options = try TargetOptions.parse(["--", text])
        #expect(Refusal.of { try options.makeTargets() } == Refusal("\"\(text)\" \(Self.hostAdvice)"))
    }

    private static let steering: [(String, String, String)] = [
        ("\u{7}", "\\u{7}", hostAdvice), ("a\nb", "a\\u{a}b", hostAdvice),
        ("\u{1b}[31mred", "\\u{1b}[31mred", hostAdvice), ("\u{7f}", "\\u{7f}", hostAdvice),
        ("\u{9b}31m", "\\u{9b}31m", encodingAdvice), ("gro.\u{202e}example", "gro.\\u{202e}example", encodingAdvice),
        ("☃.example", "☃.example", encodingAdvice), ("ab--ü.example", "ab--ü.example", encodingAdvice),
    ]

    @Test(arguments: steering)
    func `a refusal shows control characters escaped`(text: String, shown: String, advice: String) throws {
        let options = try TargetOptions.parse(["--", text])
        #expect(Refusal.of { try options.makeTargets() } == Refusal("\"\(shown)\" \(advice)"))
    }

    private static let absent: [([String], String)] = [
        (
            ["fe80::1"], "fe80::1 is a link-local address and requires an interface; use fe80::1%eth0, for example"
        ),
        (["127.0.0.1", "x:1"], "\"x:1\" \(hostAdvice)"), (["-4", "::1"], "::1 is not an IPv4 address"),
        (["-6", "127.0.0.1"], "127.0.0.1 is not an IPv6 address"),
        (["--interface", "a/b"], "\"a/b\" is not an interface name; `ip link` lists the interfaces"),
        (["--netns", ""], "\"\" is not a name, path or PID of a network namespace"),
        (["--netns", "."], "\".\" is not a name, path or PID of a network namespace"),
        (["--netns", ".."], "\"..\" is not a name, path or PID of a network namespace"),
        (
            ["--netns", "no-such-namespace"],
            "cannot enter the network namespace /run/netns/no-such-namespace: No such file or directory;"
                + " `ip netns list` shows the existing names"
        ),
        (["--netns", "2147483647"], "there is no process 2147483647"),
        (["--netns", "/proc/2147483647/ns/net"], "there is no process 2147483647"),
    ]

    @Test(arguments: absent)
    func `a missing target is refused`(words: [String], sentence: String) throws {
        let options = try TargetOptions.parse(words)
        #expect(Refusal.of { try options.makeTargets() } == Refusal(sentence))
    }
}

/// The sentence and the exit status of an ``ExitMessage``.
struct Refusal: Hashable {
    let text: String
    let status: ExitMessage.Status

    init(_ text: String, _ status: ExitMessage.Status = .usage) {
        (self.text, self.status) = (text, status)
    }

    /// Returns the refusal that a closure throws. Nil if the closure returns. Another error is returned with its description.
    static func of<Value>(_ body: () throws -> Value) -> Refusal? {
        do {
            _ = try body()
            return nil
        } catch let error as any ExitError {
            return Refusal(error.exitMessage.text, error.exitMessage.status)
        } catch {
            return Refusal("not an exit message: \(error)")
        }
    }
}
