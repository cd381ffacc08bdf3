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
                "f:18: target[3]: must have either host = \"NAME\" or at-large = true",
                "f:18: target[3].name: missing",
                "f:19: target[3].family: must be ipv4 or ipv6, not \"ipv5\"",
                "f:20: target[3].colour: unknown key; the known keys are at-large, checks, confirm, family, group, host,"
                    + " interface, interval, interval-when-down, mark, name, namespace, settle",
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
