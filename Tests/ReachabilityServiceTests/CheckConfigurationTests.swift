import Foundation
import LinuxSupport
import ReachabilityChecks
import Testing

@testable import ReachabilityService

/// Reading the settings of checks.
@Suite struct CheckConfigurationTests {
    private func read(_ text: String, in directory: String? = nil) throws -> [ServiceTarget] {
        try ServiceConfiguration("schema = 1\n" + text, in: directory).targets
    }

    /// Returns the checks of a target as texts.
    private func texts(_ settings: CheckSettings?) -> [String] {
        (settings?.checks ?? []).map { $0.target.map(\.text) ?? "the internet" }
    }

    @Test func `without anchors and checks nothing is checked`() throws {
        #expect(try read("").map(\.checks) == [nil])
        #expect(try read("[[target]]\nname = \"a\"\nhost = \"a.example\"\n").map(\.checks) == [nil])
    }

    @Test func `anchors enable checks of the network at large, and hosts need the key checks`() throws {
        let anchors = "[anchors]\nurls = [\"https://status.example.org/204\"]\n"
        let internet = try #require(try read(anchors)[0].checks)
        #expect(texts(internet) == ["the internet"])
        #expect(internet.anchors.count == 1)
        let targets = try read(
            anchors + """
                [[target]]
                name = "a"
                at-large = true
                interval = "60s"
                [[target]]
                name = "b"
                host = "b.example"
                """
        )
        #expect(targets[0].checks?.interval == .seconds(60))
        #expect(targets[1].checks == nil)
    }

    @Test func `every kind of check is read`() throws {
        let targets = try read(
            """
            [[target]]
            name = "erp"
            host = "erp.example.org"
            checks = ["any", "ping", "dns", "http", "https", "tls", "tls:993", "tcp:443",
                { https = "/health", port = 8443, expect = 200 }, { http = "/", expect = "200-299" },
                { tcp = 22 }, { tls = 465 }, { dns = "example.org" }]
            interval = "10s"
            interval-when-down = "2s"
            confirm = 3
            settle = "1m"
            [[target]]
            name = "six"
            host = "2001:db8::7"
            checks = ["tcp:22", "tls", { https = "/x" }]
            interval = "2s"
            [[target]]
            name = "internet"
            at-large = true
            checks = ["network"]
            """
        )
        let erp = try #require(targets[0].checks)
        #expect(
            texts(erp) == [
                "erp.example.org", "icmp://erp.example.org", "the name erp.example.org", "http://erp.example.org/",
                "https://erp.example.org/", "tls://erp.example.org:443", "tls://erp.example.org:993",
                "tcp://erp.example.org:443", "https://erp.example.org:8443/health", "http://erp.example.org/",
                "tcp://erp.example.org:22", "tls://erp.example.org:465", "dns://erp.example.org/example.org",
            ]
        )
        #expect(erp.checks[8].target?.exchange.expectedStatus == 200...200)
        #expect(erp.checks[9].target?.exchange.expectedStatus == 200...299)
        #expect((erp.interval, erp.intervalWhenDown) == (.seconds(10), .seconds(2)))
        #expect(erp.confirm == 3)
        #expect(targets[0].settle == .seconds(60))
        #expect(
            texts(targets[1].checks) == [
                "tcp://[2001:db8::7]:22", "tls://[2001:db8::7]:443", "https://[2001:db8::7]/x",
            ]
        )
        // A down target is not checked less often than an up one.
        #expect(targets[1].checks?.intervalWhenDown == .seconds(2))
        #expect(texts(targets[2].checks) == ["the internet"])
    }

    @Test func `all problems are reported at once with their lines`() {
        let text = """
            schema = 1
            [anchors]
            urls = ["ftp://x.example/", "https://y.example/"]
            [[target]]
            name = "a"
            host = "a.example"
            checks = ["pong", "tcp", "tcp:0", "network", 7, { https = "health" }, { tcp = 1, tls = 2 }, { htps = "/" },
                { tcp = 1, expect = 200 }, { https = "/", expect = 99, policy = "nowhere.json" }]
            interval = "10ms"
            confirm = 11
            [[target]]
            name = "b"
            at-large = true
            checks = ["ping"]
            [[target]]
            name = "c"
            host = "192.0.2.1"
            checks = ["dns"]
            interval-when-down = "1"
            [[target]]
            name = "d"
            host = "192.0.2.1"
            confirm = 2
            checks = []
            [[target]]
            name = "e"
            host = "192.0.2.1"
            interval = "5s"
            """
        let words = "any, dns, http, https, network, ping, tcp:PORT, tls, tls:PORT"
        #expect(
            ServiceConfiguration.problems(text, in: "/etc/x/") == [
                "f:3: anchors.urls[1]: cannot check \"ftp://x.example/\": it does not begin with http:// or https://",
                "f:7: target[1].checks[10].expect: must be a status code from 200 to 599 or a range such as \"200-299\"",
                "f:7: target[1].checks[10].policy: cannot read the policy file /etc/x/nowhere.json: No such file or directory",
                "f:7: target[1].checks[1]: unknown check \"pong\"; did you mean ping?",
                "f:7: target[1].checks[2]: requires a port, for example \"tcp:443\"",
                "f:7: target[1].checks[3]: cannot check \"tcp://a.example:0\": the port is not between 1 and 65535",
                "f:7: target[1].checks[4]: \"network\" requires at-large = true; the other checks are "
                    + words.replacing("network, ", with: ""),
                "f:7: target[1].checks[5]: must be one of \(words), or a table such as { https = \"/health\" }, not an integer",
                "f:7: target[1].checks[6].https: must be a path that begins with /, not \"health\"",
                "f:7: target[1].checks[7]: must have exactly one of http, https, tcp, tls, dns, not several",
                "f:7: target[1].checks[8]: must have exactly one of http, https, tcp, tls, dns, not none",
                "f:7: target[1].checks[8].htps: unknown key; did you mean https?",
                "f:7: target[1].checks[9].expect: is only allowed with http or https, not with tcp",
                "f:9: target[1].interval: must be at least 1s, not 10ms",
                "f:10: target[1].confirm: must be from 1 to 10, not 11",
                "f:14: target[2].checks[1]: must be \"network\" for at-large = true, not \"ping\"",
                "f:18: target[3].checks[1]: cannot check \"192.0.2.1\": an address has no name to look up",
                "f:19: target[3].interval-when-down: must be a duration such as 90s, 5m or 400d, not \"1\"",
                "f:24: target[4].checks: must not be empty; remove the key if nothing is to be checked",
                "f:28: target[5].interval: has no effect without checks; add, for example, checks = [\"tcp:443\"]",
            ]
        )
    }

    @Test func `the query of a URL is not part of an error`() {
        let text = """
            schema = 1
            [[target]]
            name = "a"
            host = "192.0.2.1"
            checks = ["http://192.0.2.1/?\u{301}token=secret"]
            """
        let texts = ServiceConfiguration.problems(text)
        #expect(texts.count == 1 && texts[0].contains("unknown check \"http://192.0.2.1/\"; must be one of"))
    }

    @Test func `a relative policy path is resolved against the directory of the configuration`() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "check-policy-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try Data("{\"hosts\":{\"a.example\":{\"policy\":\"default\"}}}".utf8).write(
            to: directory.appending(path: "p.json")
        )
        let target =
            "[[target]]\nname = \"a\"\nhost = \"a.example\"\nchecks = [{ https = \"/\", policy = \"p.json\" }]\n"
        let first = try read(target, in: directory.path + "/")
        #expect(first[0].checks?.checks[0].policy != nil)
        // Policies from different readings are not equal.
        #expect(try first != read(target, in: directory.path + "/"))
    }
}
