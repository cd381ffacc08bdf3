import ArgumentParser
import CommandLineSupport
import LinuxSupport
import ReachabilityChecks
import ReachabilityFleetAgent
import Testing
import TrustForge

@testable import reachability
@testable import reachability_fleet
@testable import reachability_tools

/// Durations, sizes and lists of exit statuses in the notation of options.
@Suite struct ArgumentTests {
    @Test(arguments: [
        ("500ms", Duration.milliseconds(500)), ("1.5s", .milliseconds(1500)), ("2m", .seconds(120)),
        ("1h", .seconds(3600)), ("1d", .seconds(86_400)), ("0.5h", .seconds(1800)),
        ("0.000001s", .microseconds(1)), ("1.25d", .seconds(108_000)),
        ("0s", .zero), ("0.5ms", .microseconds(500)), ("36500d", .seconds(3_153_600_000)),
    ])
    func `a duration has a unit, and may have a fraction`(text: String, duration: Duration) throws {
        #expect(try DurationArgument(argument: text).value == duration)
    }

    @Test(arguments: [
        ("1", 1), ("20kB", 20_000), ("20KB", 20_000), ("20KiB", 20_480), ("64MB", 64_000_000), ("64MiB", 67_108_864),
        ("1GB", 1_000_000_000), ("1GiB", 1_073_741_824),
    ])
    func `a size is in thousands, or with an i in 1024s`(text: String, bytes: Int) throws {
        #expect(try SizeArgument(argument: text).bytes == bytes)
    }

    @Test(arguments: ["", "KB", "0", "-1KB", "1kb", "1K", "1.5MB", "1 MB", "9223372036854775807KB"])
    func `other texts are not a size`(text: String) {
        #expect(throws: ExitMessage.self) { try SizeArgument(argument: text).bytes }
    }

    @Test(arguments: [
        "", "1", "2", "1.5", "s", "ms", "-1s", "+2s", "1.5.1s", "1.s", ".5s", ".s", "1.0000001s", "1,5s", "2 s", "1w",
        "2w",
        "2S", "\u{662}s", "99999999999999999999s", "9223372036854775807m", "--json",
    ])
    func `a text without a number and a unit is not a duration`(text: String) {
        let sentence = "\"\(text)\" is not a duration; write 500ms, 1.5s, 2m or 1h, for example"
        #expect(Refusal.of { try DurationArgument(argument: text).value } == Refusal(sentence))
    }

    @Test func `exit statuses are numbers and ranges`() throws {
        #expect(try ExitStatuses(argument: "6,7,28").values == [6, 7, 28])
        #expect(try ExitStatuses(argument: "1-5,7-9").values == [1, 2, 3, 4, 5, 7, 8, 9])
        #expect(try ExitStatuses(argument: "1-255").values.count == 255)
    }

    @Test(arguments: ["0", "256", ",", "6,", "6,,7", "9-1", "1-", "-1", "1-2-3", "x", "+6", " 6", "\u{662}", "6;7"])
    func `other texts are not a list of exit statuses`(text: String) {
        let sentence = "\"\(text)\" is not a list of exit statuses from 1 to 255; write 6,7,28 or 1-9, for example"
        #expect(Refusal.of { try ExitStatuses(argument: text).values } == Refusal(sentence))
    }
}

#if Fleet
/// Options that `reachability fleet agent` refuses before it connects.
@Suite struct FleetArgumentTests {
    private static let place = ["--site", "s", "--device", "d"]

    @Test(arguments: [
        (["--broker", "http://a"] + place, "\"http://a\" is not the address of a broker; write mqtts://"),
        (["--broker", "mqtts://u:hush@a?hush"] + place, "\"mqtts://***@a?***\" is not the address of a broker; write"),
        (
            ["--broker", "mqtts://a", "--site", "s/t", "--device", "d"],
            "--site and --device take 1 to 64 letters"
        ),
        (["--broker", "mqtts://a", "--key", "k"] + place, "--key needs --certificate"),
        (["--broker", "mqtt://a", "--authority", "k"] + place, "need a broker with TLS"),
        (["--broker", "mqtts://a", "--allow", "exec"] + place, "--allow takes check or report"),
        (["--broker", "mqtts://a", "--refresh", "0s"] + place, "--refresh takes a duration from 1s to 24h"),
        (["--broker", "mqtt://a"], "give --broker, --site and --device"),
        (["--broker", "mqtt://a", "--user", "u"] + place, "--user and --password-file require each other"),
        (
            ["--broker", "mqtt://a", "--home-assistant", "--home-assistant-prefix", "a/#"] + place,
            "--home-assistant-prefix takes 1 to 8 names"
        ),
        (
            ["--broker", "mqtt://a", "--no-home-assistant", "--site", "s", "--device", "d.e"],
            "--home-assistant requires a site and a device without \".\""
        ),
    ])
    func `an invalid option is a usage error`(words: [String], text: String) throws {
        let arguments = try FleetAgentArguments.parse(words)
        let refusal = Refusal.of { try AgentOptions(arguments) }
        #expect(refusal?.status == .usage && refusal?.text.contains(text) == true, "\(refusal?.text ?? "accepted")")
    }
}
#endif

/// Files of hosts, one per line.
@Suite struct TargetFileTests {
    private let directory = ScratchDirectory()

    /// Returns the hosts of a file, and its bad lines without the file name.
    private func read(_ text: String) throws -> (hosts: [String], bad: [String]) {
        let path = try directory.write("hosts", text)
        let (hosts, bad) = try TargetFile(path: path).read { text throws(HostError) in try HostError.check(text) }
        return (hosts, bad.map { String("\($0)".dropFirst(path.count)) })
    }

    private static let text = """
        # Routers
        192.0.2.7   # the first

        \t198.51.100.1\t
        192.0.2.7
        x:1
          #nothing
        a b
        2001:db8:9::9#no blank
        fe80::1
        """

    @Test(arguments: ["\n", "\r\n"]) func `comments and blanks are skipped, and bad lines are reported`(
        end: String
    ) throws {
        let (hosts, bad) = try read(Self.text.replacing("\n", with: end))
        #expect(hosts == ["192.0.2.7", "198.51.100.1", "2001:db8:9::9"])
        let starts = [":6: \"x:1\" is neither", ":8: \"a b\" is neither", ":10: fe80::1 is a link-local address"]
        #expect(bad.count == starts.count && zip(bad, starts).allSatisfy { $0.hasPrefix($1) }, "\(bad)")
    }

    @Test func `a byte order mark is not part of the first host`() throws {
        #expect(try read("\u{feff}192.0.2.7\n198.51.100.1\n").hosts == ["192.0.2.7", "198.51.100.1"])
    }

    @Test(arguments: ["", "# empty\n\n", "\u{feff}"]) func `a file may have no hosts`(text: String) throws {
        let (hosts, bad) = try read(text)
        #expect(hosts.isEmpty && bad.isEmpty)
    }

    @Test func `NUL does not end an address, and control characters are escaped`() throws {
        let (hosts, bad) = try read("192.0.2.1\0.example\n192.0.2.2\0\n\0\n\u{1b}[2J\u{7}\n")
        let texts = ["192.0.2.1\\u{0}.example", "192.0.2.2\\u{0}", "\\u{0}", "\\u{1b}[2J\\u{7}"]
        #expect(hosts.isEmpty && bad.count == texts.count)
        for (index, (line, text)) in zip(bad, texts).enumerated() {
            #expect(line.hasPrefix(":\(index + 1): \"\(text)\" is neither"))
        }
    }

    @Test(arguments: [("/nowhere/hosts", "No such file or directory"), ("/", "Is a directory")])
    func `a file that cannot be read is refused`(path: String, cause: String) throws {
        let refusal = Refusal.of {
            try TargetFile(path: path).read { text throws(HostError) in try HostError.check(text) }
        }
        #expect(refusal == Refusal("cannot read the hosts in \(path): \(cause)", .noInput))
    }
}

/// Targets and options that `reachability check` refuses before it sends a packet.
@Suite struct CheckArgumentsTests {
    private static let wrong: [([String], String)] = [
        (["1.2.3.4:0"], "cannot check \"1.2.3.4:0\": the port is not between 1 and 65535"),
        (
            ["ftp://example.org"],
            "the scheme ftp is unknown; use tcp, tls, http, https, icmp, dns, ssh, ntp, smtp, imap or pop3"
        ),
        (["tcp://example.org"], "it has no port; write tcp://example.org:22"),
        (["icmp://192.0.2.1:7"], "an echo has no port"),
        (["dns://192.0.2.53"], "it has no server and name; write dns://192.0.2.53/example.org"),
        (["https://user@example.org/"], "it contains a user name"),
        (["http://example.org/a b"], "it has a space or a control character"),
        (["2001:db8::1]:80"], "it has no host name or address"),
        (["[192.0.2.1]:80"], "brackets are for IPv6 addresses"),
        (["fe80::1"], "a link-local address needs an interface"),
        (["a\u{1b}[2Jb"], "cannot check \"a\\u{1b}[2Jb\""),
        ([""], "cannot check \"\""),
        (["--anchor", "example.org"], "it does not begin with http:// or https://"),
        (["--anchor", "x"], "cannot check \"x\""),
        (["--dns", "example.org"], "\"example.org\" is not an address for --dns"),
        (["--dns", "192.168.1.99%nope"], "only link-local IPv6 addresses have an interface"),
        (["--dns", "fe80::1"], "needs an interface; write fe80::1%eth0"),
        (["--resolve", "example.org"], "is not a name and an address for --resolve"),
        (["--resolve", "192.0.2.1=192.0.2.2"], "is not a name and an address for --resolve"),
        (["--resolve", "a.example=fe80::1"], "needs an interface"),
        (["--expect-address", "example.org=x"], "is not a name and an address for --expect-address"),
        (["--source", "x"], "\"x\" is not an address for --source"),
        (["--timeout", "0s"], "--timeout takes more than 0 and at most 60s"),
        (["--timeout", "2m"], "--timeout takes more than 0 and at most 60s"),
        (["--netns", ".."], "\"..\" is not a name, path or PID of a network namespace"),
    ]

    @Test(arguments: wrong)
    func `an invalid target or option is a usage error`(words: [String], text: String) throws {
        let arguments = try CheckArguments.parse(words)
        let refusal = Refusal.of {
            _ = try CheckOptions(arguments)
            _ = try Check.targets(arguments.targets)
        }
        #expect(refusal?.status == .usage && refusal?.text.contains(text) == true, "\(refusal?.text ?? "accepted")")
    }

    @Test(arguments: [
        ("{\"hosts\": {}, \"more\": 1}", ExitMessage.Status.dataError, "policy.json:1:15: "),
        (
            "{\"hosts\": {\"a.example\": {\"policy\": \"pins\", \"pins\": [\"sha256/x\"]}}}", .dataError,
            "policy.json:1:"
        ),
        ("{\"anchors\": [\"nowhere.pem\"], \"hosts\": {}}", .noInput, "nowhere.pem"),
    ])
    func `an invalid policy file is refused`(policy: String, status: ExitMessage.Status, text: String) throws {
        let directory = ScratchDirectory()
        let arguments = try CheckArguments.parse(["--policy", try directory.write("policy.json", policy)])
        let refusal = Refusal.of { try CheckOptions(arguments) }
        #expect(refusal?.status == status && refusal?.text.contains(text) == true, "\(refusal?.text ?? "accepted")")
    }

    @Test func `the nearest broken place of several targets decides the exit status`() {
        func status(_ places: CheckPlace..., simple: Bool = false) -> Int32 {
            CheckPlace.exitCode(of: places, simple: simple)
        }
        #expect(status(.works, .works) == 0)
        #expect(status(.works, .service, .thisMachine) == 10)
        #expect(status(.works, .degraded) == 3)
        #expect(status(.degraded, .inconclusive) == 3)
        #expect(status(.works, .inconclusive) == 2)
        #expect(status(.service, simple: true) == 1)
        #expect(status(.degraded, simple: true) == 0)
        #expect(status(.inconclusive, simple: true) == 2)
    }
}
