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
        let words = "any, dns, http, https, network, ntp, ping, ssh, ssh:PORT, tcp:PORT, tls, tls:PORT"
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
                "f:7: target[1].checks[7]: must have exactly one of http, https, tcp, tls, dns, ssh, ntp, not several",
                "f:7: target[1].checks[8]: must have exactly one of http, https, tcp, tls, dns, ssh, ntp, not none",
                "f:7: target[1].checks[8].htps: unknown key; did you mean https?",
                "f:7: target[1].checks[9].expect: is only allowed with http or https or dns, not with tcp",
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

    private static let pin = "SHA256:l1A5mWGPrwMJqyORDhkPyQoOpByOBoGJk+sW/FRrbNE"

    /// Runs the body with a directory that contains secrets.
    private func withSecrets(_ body: (_ directory: String) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "check-secrets-\(UUID())").path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        for (name, text, mode) in [("word", "pass word\n", 0o640), ("open", "x", 0o644), ("lines", "a\nb\n", 0o640)] {
            try Data(text.utf8).write(to: URL(filePath: "\(directory)/\(name)"))
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: "\(directory)/\(name)")
        }
        try body(directory)
    }

    @Test func `every option of a check is read`() throws {
        try withSecrets { directory in
            let checks = try read(
                """
                [[target]]
                name = "a"
                host = "a.example"
                checks = ["ssh", "ssh:2222", "ntp",
                    { https = "/in", method = "PUT", body = "{}", user = "monitor", password-file = "\(directory)/word", \
                      headers = { X-Key = { file = "\(directory)/word" }, Accept = "text/plain" }, redirects = 3, contains = "ok", \
                      matches = "^o", json = { "/a" = "b", "/n" = 1, "/t" = true, "" = 1.5 }, certificate-days = { warn = 21, alert = 7 } },
                    { http = "/", body = "x" }, { tls = 587, starttls = "smtp", certificate-days = 14 },
                    { ssh = 22, host-key = "\(Self.pin)" }, { ssh = 22, host-key = ["\(Self.pin)"] }, { ntp = 123, stratum = 3 },
                    { dns = "example.org", type = "MX", expect = ["10 mail.example.org"] }]
                """
            )[0].checks?.checks.compactMap(\.target)
            let targets = try #require(checks)
            #expect(
                targets.map(\.text) == [
                    "ssh://a.example", "ssh://a.example:2222", "ntp://a.example", "https://a.example/in",
                    "http://a.example/",
                    "smtp://a.example:587", "ssh://a.example:22", "ssh://a.example:22", "ntp://a.example:123",
                    "dns://a.example/example.org?type=MX",
                ]
            )
            #expect(targets.map(\.summary).suffix(4) == ["ssh", "ssh", "ntp", "dns MX example.org"])
            let exchange = targets[3].exchange
            #expect(exchange.method == "PUT" && exchange.body == Array("{}".utf8) && exchange.redirects == 3)
            #expect(
                exchange.headers == [
                    .init("Accept", "text/plain"), .init("X-Key", "pass word"),
                    .init("Authorization", "Basic bW9uaXRvcjpwYXNzIHdvcmQ="),
                ]
            )
            #expect(exchange.content == "ok" && exchange.pattern?.text == "^o")
            #expect(exchange.values.map(\.value) == [.number("1.5"), .string("b"), .number("1"), .bool(true)])
            #expect(targets[3].certificateDays == CertificateDays(warn: 21, alert: 7))
            #expect(targets[4].exchange.method == "POST" && targets[5].certificateDays == CertificateDays(warn: 14))
            #expect(
                targets[6].hostKeys == [Self.pin] && targets[7].hostKeys == [Self.pin] && targets[8].maximumStratum == 3
            )
        }
    }

    @Test func `each invalid option is reported with what is allowed`() throws {
        try withSecrets { directory in
            let checks = [
                #"{ http = "/", method = "get", headers = { "a b" = "x", Host = 1, Connection = "x", K = { file = "/nowhere/k", x = 1 } } }"#,
                #"{ http = "/", user = "a:b", password-file = "\#(directory)/word", token-file = "\#(directory)/lines" }"#,
                #"{ http = "/", user = "a", redirects = 11, contains = "", matches = "(", json = { a = 1, "/b" = [] } }"#,
                #"{ http = "/", method = "HEAD", contains = "x", headers = { K = { file = "\#(directory)/open" }, L = {} } }"#,
                #"{ https = "/", certificate-days = { warn = 7, alert = 7, more = 1 } }"#,
                #"{ https = "/", certificate-days = "7", starttls = "smtp" }"#,
                #"{ tls = 25, starttls = "lmtp", method = "GET" }"#,
                #"{ ssh = 22, host-key = "MD5:x" }"#, #"{ ssh = 22, host-key = [] }"#, #"{ ntp = 0, stratum = 16 }"#,
                #"{ dns = "a", type = "ANY" }"#, #"{ dns = "a", type = "MX", expect = ["mail"] }"#,
                #"{ dns = "a", expect = 200 }"#,
                #"{ http = "/", headers = { K = { file = "\#(directory)/lines" }, Authorization = "x" }, token-file = "\#(directory)/open" }"#,
            ]
            let host = "schema = 1\n[[target]]\nname = \"a\"\nhost = \"192.0.2.1\"\n"
            let problems = ServiceConfiguration.problems(host + "checks = [\(checks.joined(separator: ", "))]\n")
            let expected = [
                "[1].headers.Connection: is set by the service",
                "[1].headers.Host: must be a printable string or { file = \"/path\" }",
                "[1].headers.K.file: cannot read /nowhere/k: No such file or directory",
                "[1].headers.K.x: unknown key; the known keys are file",
                "[1].headers.a b: must be a field name of letters, digits and hyphens",
                "[1].method: must be one of GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE, not \"get\"",
                "[2].token-file: \(directory)/lines does not contain a token: printable ASCII without spaces",
                "[2].token-file: is not allowed with user",
                "[3].contains: must have 1 to 1024 bytes",
                "[3].json./b: must be a string, a number, true or false, not an array",
                "[3].json.a: must be a JSON pointer such as \"/status\" (RFC 6901)",
                "[3].matches: has an opening parenthesis without a closing one",
                "[3].redirects: must be from 0 to 10, not 11",
                "[3].user: requires password-file",
                "[4].contains: is not allowed with method = \"HEAD\", because the response has no body",
                "[4].headers.K.file: \(directory)/open is accessible to all users of this machine; run `chmod o= \(directory)/open`, "
                    + "then replace the secret, also at the receiver",
                "[4].headers.L.file: missing", "[5].certificate-days.alert: must be less than warn, which is 7, not 7",
                "[5].certificate-days.more: unknown key; the known keys are alert, warn",
                "[6].certificate-days: must be an integer, not a string",
                "[6].starttls: is only allowed with tls, not with https",
                "[7].method: is only allowed with http or https, not with tls",
                "[7].starttls: must be one of smtp, imap, pop3, not \"lmtp\"",
                "[8].host-key: must be a fingerprint such as SHA256:… that `ssh-keygen -lf` prints, not \"MD5:x\"",
                "[9].host-key: must not be empty", "[10].ntp: must be from 1 to 65535, not 0",
                "[10].stratum: must be from 1 to 15, not 16",
                "[11].type: must be one of A, AAAA, CNAME, MX, NS, PTR, SRV, TXT, not \"ANY\"",
                "[12].expect: \"mail\" is not a record of the type MX; write, for example, \"10 mail.example.org\"",
                "[13].expect: must be an array of strings, not an integer",
                "[14].headers.K.file: \(directory)/lines does not contain one line of printable characters",
                "[14].token-file: \(directory)/open is accessible to all users of this machine; run `chmod o= \(directory)/open`, "
                    + "then replace the secret, also at the receiver",
            ]
            for text in expected { #expect(problems.contains("f:5: target[1].checks\(text)"), "\(text)") }
            let rest = problems.filter { problem in !expected.contains { problem == "f:5: target[1].checks\($0)" } }
            #expect(rest.isEmpty, "\(rest)")
        }
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
