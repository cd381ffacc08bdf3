import LinuxSupport
import NetworkReachability
import Testing

@testable import ReachabilityService

/// Reading a configuration, and the problems that are reported.
@Suite struct ConfigurationTests {
    @Test func `all keys are read`() throws {
        let configuration = try ServiceConfiguration(
            """
            schema = 1
            [listen]
            socket = "/run/x.sock"
            http = ["127.0.0.1:9672", "[::1]:9672"]
            [history]
            path = "/var/lib/x.sqlite"
            keep = "90d"
            mark = "1m"
            [[target]]
            name = "internet"
            at-large = true
            family = "ipv6"
            [[target]]
            name = "erp"
            host = "erp.example.org"
            namespace = "blue"
            interface = "eth0"
            mark = 7
            """
        )
        #expect(configuration.listen.socket == "/run/x.sock")
        #expect(configuration.listen.http == ["127.0.0.1:9672", "[::1]:9672"])
        #expect(configuration.history.path == "/var/lib/x.sqlite")
        #expect(configuration.history.keep == .seconds(90 * 86400))
        #expect(configuration.history.mark == .seconds(60))
        #expect(
            configuration.targets == [
                ServiceTarget(name: "internet", host: nil, family: .ipv6),
                ServiceTarget(
                    name: "erp",
                    host: "erp.example.org",
                    namespace: .named("blue"),
                    interface: "eth0",
                    mark: 7
                ),
            ]
        )
    }

    @Test func `the state is published on the system bus only if that is configured, and never by a hub`() throws {
        #expect(try !ServiceConfiguration("schema = 1").listen.isOnBus)
        #expect(try ServiceConfiguration("schema = 1\n[listen]\ndbus = true").listen.isOnBus)
        let wrong = ServiceConfiguration.problems("schema = 1\n[listen]\ndbus = \"yes\"")
        #expect(wrong == ["f:3: listen.dbus: must be true or false, not a string"])
        let hub = ServiceConfiguration.problems("schema = 1\n[listen]\ndbus = true", for: .hub)
        #expect(hub == ["f:3: listen.dbus: not supported by a hub"])
    }

    @Test func `without targets the network at large is monitored`() throws {
        #expect(try ServiceConfiguration("schema = 1").targets == [.internet])
    }

    @Test func `all problems are reported at once with lines, found values and allowed values`() {
        let problems = ServiceConfiguration.problems(
            """
            [listen]
            sokcet = "/run/x.sock"
            http = "127.0.0.1:9672"

            [history]
            keep = "1h"
            mark = "soon"

            [[target]]
            name = "a"
            host = "https://example.org"

            [[target]]
            name = "a"
            at-large = true
            host = 7
            mark = -1
            [[target]]
            family = "ipv5"
            colour = "red"
            """
        )
        #expect(
            problems == [
                "f: schema: missing; write schema = 1",
                "f:2: listen.sokcet: unknown key; did you mean socket?",
                "f:3: listen.http: must be an array of strings, not a string",
                "f:6: history.keep: must be at least 1d, not 1h",
                "f:7: history.mark: must be a duration such as 90s, 5m or 400d, not \"soon\"",
                "f:11: target[1].host: \"https://example.org\" is neither a host name nor an address; use a name such as"
                    + " example.org or an address such as 192.0.2.1 or 2001:db8::1, without scheme, port or brackets",
                "f:14: target[2].name: \"a\" is already used by target[1]",
                "f:16: target[2].host: must be a string, not an integer",
                "f:17: target[2].mark: must be from 0 to 4294967295, not -1",
                "f:18: target[3]: must have exactly one of host = \"NAME\", at-large = true, push = { every = \"1h\" }",
                "f:18: target[3].name: missing",
                "f:19: target[3].family: must be ipv4 or ipv6, not \"ipv5\"",
                "f:20: target[3].colour: unknown key; the known keys are at-large, checks, confirm, description,"
                    + " enabled, family, group, host, interface, interval, interval-when-down, jitter, latency, loss, mark,"
                    + " name, namespace, order, ping, push, settle, tags",
            ]
        )
    }

    @Test func `invalid TOML is reported with line and column`() {
        let text = "schema = 1\n[[target]\nname = 1\n"
        let error = #expect(throws: ConfigurationProblems.self) { try ServiceConfiguration(text) }
        #expect(error?.problems.count == 1)
        #expect(error?.problems.first?.line == 2)
        #expect(error?.problems.first?.column != nil)
    }

    @Test(arguments: [
        "schema = 2", "schema = \"1\"", "schema = 1\ntarget = 1", "schema = 1\ntarget = [1]", "schema = 1\nlisten = 1",
        "schema = 1\n[[target]]\nname = \"\"\nat-large = true",
        "schema = 1\n[[target]]\nname = \" \\t\"\nat-large = true",
        "schema = 1\n[[target]]\nname = \"\\u00a0\\u200b\\u3164\"\nat-large = true",
        "schema = 1\n[[target]]\nname = \".\"\nat-large = true",
        "schema = 1\n[[target]]\nname = \"..\"\nat-large = true",
        "schema = 1\n[[notify]]\nname = \" \"\njournal = true",
        "schema = 1\n[[target]]\nname = \"a\"\nat-large = false",
        "schema = 1\n[[target]]\nname = \"a\"\nat-large = true\ninterface = \"a/b\"",
        "schema = 1\n[[target]]\nname = 1979-05-27\nat-large = true",
    ])
    func `a single error is a single problem`(text: String) {
        let problems = ServiceConfiguration.problems(text)
        #expect(problems.count == 1, "\(problems)")
    }
}

/// The table of the agent of a fleet.
@Suite struct FleetConfigurationTests {
    private static func text(_ keys: String, device: String = "door") -> String {
        "schema = 1\n[fleet]\nbroker = \"mqtt://a\"\nsite = \"hq\"\ndevice = \"\(device)\"\n\(keys)\n"
    }

    @Test func `the keys of Home Assistant and of the login are read`() throws {
        let keys = "home-assistant = false\nhome-assistant-prefix = \"a/b.c\"\nuser = \"u\"\npassword-file = \"/p\""
        let fleet = try #require(try ServiceConfiguration(Self.text(keys)).fleet)
        #expect(fleet.homeAssistant == false && fleet.homeAssistantPrefix == "a/b.c")
        #expect(fleet.user == "u" && fleet.passwordFile == "/p")
        #expect(try ServiceConfiguration(Self.text("")).fleet?.homeAssistant == nil)
    }

    @Test func `an agent reads only its table`() throws {
        let others = "[[target]]\nname = \"erp\"\nhost = \"${ABSENT}\"\n[[notify]]\nwebhook = 7\n"
        let text = "include = \"/absent\"\n" + Self.text("") + others
        #expect(try ServiceConfiguration(text, for: .agent, variable: { _ in nil }).fleet?.device == "door")
        #expect(ServiceConfiguration.problems(text, for: .service) != [])
        #expect(ServiceConfiguration.problems(Self.text("jitter = 1"), for: .agent) != [])
    }

    @Test(arguments: ["", "/a", "a/", "a//b", "a/#", "+", "$SYS", "a/b/c/d/e/f/g/h/i"])
    func `an invalid Home Assistant prefix is refused`(prefix: String) {
        let problems = ServiceConfiguration.problems(Self.text("home-assistant-prefix = \"\(prefix)\""))
        #expect(
            problems.count == 1 && problems[0].hasPrefix("f:6: fleet.home-assistant-prefix: must be 1 to 8 names of")
        )
    }

    @Test func `names with dots and a login without a password are refused`() {
        let named = ServiceConfiguration.problems(Self.text("home-assistant = true", device: "a.b"))
        #expect(named == ["f:6: fleet.home-assistant: requires a site and a device without \".\""])
        let login = ServiceConfiguration.problems(Self.text("user = \"u\""))
        #expect(login == ["f:6: fleet.user: requires password-file"])
        let file = ServiceConfiguration.problems(Self.text("password-file = \"/p\""))
        #expect(file == ["f:6: fleet.password-file: requires user"])
    }

    @Test func `of many errors one hundred are described, and the others are counted`() {
        func lines(_ count: Int) -> [String] {
            ConfigurationProblems((1...count).map { ConfigurationProblem(line: $0, path: "x", text: "wrong") })
                .descriptions(in: "f")
        }
        #expect(lines(100).count == 100 && lines(100).last == "f:100: x: wrong")
        #expect(lines(101).count == 101 && lines(101).last == "f: 1 more error")
        #expect(lines(5000).count == 101 && lines(5000).last == "f: 4900 more errors")
    }

    @Test func `a day begins at local midnight`() throws {
        let berlin = try #require(LocalTime(zone: "Europe/Berlin"))
        // 2026-10-25 has 25 hours.
        for (moment, start) in [
            ("2026-11-28T23:30:00Z", "2026-11-28T23:00:00Z"), ("2026-10-25T22:59:59Z", "2026-10-24T22:00:00Z"),
            ("2026-11-28T22:59:59Z", "2026-11-27T23:00:00Z"),
        ] {
            let moment = try #require(Timestamp.real(of: moment))
            #expect(berlin.startOfDay(at: moment) == Timestamp.real(of: start))
        }
    }
}

extension ServiceConfiguration {
    /// Returns the problems of a configuration in the file `f`.
    static func problems(_ text: String, in directory: String? = nil, for program: Reader = .service) -> [String] {
        do {
            _ = try ServiceConfiguration(text, in: directory, for: program)
            return []
        } catch {
            return error.problems.map { $0.description(in: "f") }
        }
    }
}
