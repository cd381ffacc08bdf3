import Foundation
import LinuxSupport
import ServiceLab
import Testing

@testable import ReachabilityService

/// The keys of targets: pushes, thresholds, bursts and descriptions. Included files and environment variables.
@Suite struct TargetConfigurationTests {
    private static func target(_ keys: String) throws -> ServiceTarget {
        try #require(try ServiceConfiguration("schema = 1\n[[target]]\nname = \"a\"\n\(keys)\n").targets.first)
    }

    /// Returns the problems of a target.
    private static func problems(_ keys: String) -> [String] {
        do { _ = try target(keys) } catch let problems as ConfigurationProblems {
            return problems.problems.map { "\($0.path): \($0.text)" }
        } catch {}
        return []
    }

    @Test func `a push has an interval, a grace and a token`() throws {
        let target = try Self.target("push = { every = \"1h\", grace = \"5m\", token-file = \"/x\" }")
        #expect(target.push == PushSettings(interval: .seconds(3600), grace: .seconds(300), tokenFile: "/x"))
        #expect(target.summary == "push every 1h")
        #expect(try Self.target("push = { every = \"1h\" }").push?.grace == .seconds(370))
        #expect(try Self.target("push = { every = \"90d\" }").push?.grace == .seconds(3600))
    }

    @Test func `a target has descriptions and can be disabled`() throws {
        let target = try Self.target(
            "host = \"192.0.2.1\"\ngroup = \"g\"\ntags = [\"x\", \"y\"]\ndescription = \"d\"\norder = -3\nenabled = false"
        )
        #expect(target.group == "g" && target.tags == ["x", "y"] && target.description == "d")
        #expect(target.order == -3 && !target.isEnabled)
        #expect(try Self.target("host = \"192.0.2.1\"").isEnabled)
    }

    @Test func `thresholds and bursts are read`() throws {
        let keys = """
            host = "192.0.2.1"
            checks = ["tcp:22"]
            latency = { above = "200ms", over = "10m" }
            loss = { above = "2.5%", over = "20m" }
            jitter = { above = "30ms", over = "1h" }
            ping = { count = 10, interval = "1m" }
            """
        let checks = try #require(try Self.target(keys).checks)
        #expect(
            checks.thresholds == [
                .latency: Threshold(limit: 200_000_000, window: .seconds(600)),
                .loss: Threshold(limit: 0.025, window: .seconds(1200)),
                .jitter: Threshold(limit: 30_000_000, window: .seconds(3600)),
            ]
        )
        #expect(checks.burst == BurstSettings(count: 10, interval: .seconds(60)))
        #expect(checks.checks.count == 1)
        // Bursts alone imply the check ping.
        let alone = try #require(try Self.target("host = \"192.0.2.1\"\nping = {}").checks)
        #expect(alone.checks.first?.target?.isEcho == true)
        #expect(alone.burst == BurstSettings(count: 20, interval: .seconds(300)))
    }

    @Test(arguments: [
        ("", "target[1]: must have exactly one of host = \"NAME\", at-large = true, push = { every = \"1h\" }"),
        (
            "host = \"192.0.2.1\"\npush = { every = \"1h\" }",
            "target[1]: must have exactly one of host = \"NAME\", at-large = true, push = { every = \"1h\" }"
        ),
        ("push = {}", "target[1].push.every: missing; give the interval of the pushes, such as \"1h\""),
        ("push = { every = \"400d\" }", "target[1].push.every: must be at most 366d"),
        (
            "push = { every = \"1h\", colour = 1 }",
            "target[1].push.colour: unknown key; the known keys are every, grace, token-file"
        ),
        ("push = { every = \"1h\" }\nchecks = [\"ping\"]", "target[1].checks: is not allowed with push"),
        ("push = { every = \"1h\" }\nmark = 1", "target[1].mark: is not allowed with push"),
        (
            "host = \"192.0.2.1\"\nloss = { above = \"1%\", over = \"10m\" }",
            "target[1].loss: has no effect without checks; add, for example, checks = [\"tcp:443\"]"
        ),
        ("host = \"192.0.2.1\"\nchecks = [\"ping\"]\nloss = { over = \"10m\" }", "target[1].loss.above: missing"),
        (
            "host = \"192.0.2.1\"\nchecks = [\"ping\"]\nloss = { above = \"1\", over = \"10m\" }",
            "target[1].loss.above: must be a share such as \"2.5%\", below 100 %, not \"1\""
        ),
        (
            "host = \"192.0.2.1\"\nchecks = [\"ping\"]\nloss = { above = \"inf%\", over = \"10m\" }",
            "target[1].loss.above: must be a share such as \"2.5%\", below 100 %, not \"inf%\""
        ),
        (
            "host = \"192.0.2.1\"\nping = {}\nloss = { above = \"1%\", over = \"5m\" }",
            "target[1].loss.over: must be from 10m to 1d, not 5m"
        ),
        (
            "host = \"192.0.2.1\"\nping = { count = 50, interval = \"1m\" }",
            "target[1].ping.interval: must be from 100s to 1d for 50 echoes"
        ),
        (
            "at-large = true\nping = {}",
            "target[1].ping: has no effect without checks; add, for example, checks = [\"tcp:443\"]"
        ),
        ("host = \"192.0.2.1\"\ntags = [\"\"]", "target[1].tags[1]: must have 1 to 50 characters, not 0"),
        ("host = \"192.0.2.1\"\ndescription = \"\"", "target[1].description: must have 1 to 500 characters, not 0"),
    ])
    func `bad values are reported with what is allowed`(keys: String, problem: String) {
        #expect(Self.problems(keys) == [problem])
    }

    // MARK: Files

    /// A directory with a configuration.
    private struct Files {
        private let directory = HistoryDirectory()

        func path(_ name: String) -> String { "\(directory.path)/\(name)" }

        func write(_ name: String, _ text: String) throws {
            let url = URL(filePath: path(name))
            let folder = url.deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: url)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path(name))
        }

        func read() throws(ConfigurationProblems) -> ServiceConfiguration {
            try Reloader.read(path("serve.toml"))
        }

        var problems: [String] {
            do { _ = try read() } catch {
                let file = path("serve.toml")
                return error.descriptions(in: file).map { $0.replacingOccurrences(of: path(""), with: "") }
            }
            return []
        }
    }

    private static func host(_ name: String) -> String { "[[target]]\nname = \"\(name)\"\nhost = \"192.0.2.1\"\n" }

    @Test func `files of a directory add targets in the order of their names`() throws {
        let files = Files()
        try files.write("serve.toml", "schema = 1\ninclude = \"conf.d\"\n\(Self.host("main"))")
        try files.write("conf.d/20-b.toml", Self.host("b") + "[[notify]]\nname = \"j\"\njournal = true\n")
        try files.write("conf.d/10-a.toml", "schema = 1\n" + Self.host("a") + Self.host("a2"))
        try files.write("conf.d/30-c.toml.disabled", "x")
        try files.write("conf.d/.hidden.toml", "x")
        let configuration = try files.read()
        #expect(configuration.targets.map(\.name) == ["main", "a", "a2", "b"])
        #expect(configuration.notifiers.map(\.name) == ["j"])
        guard case .array(let shown)? = configuration.document["target"] else {
            Issue.record("the targets are not in the document")
            return
        }
        #expect(shown.count == 4)
    }

    @Test func `a problem of an included file has its name and line`() throws {
        let files = Files()
        try files.write("serve.toml", "schema = 1\ninclude = \"conf.d/\"\n\(Self.host("main"))family = \"x\"\n")
        try files.write("conf.d/a.toml", Self.host("a"))
        try files.write("conf.d/b.toml", "\(Self.host("b"))\n[[target]]\nname = \"b2\"\nhots = \"192.0.2.1\"\n")
        #expect(
            files.problems == [
                "serve.toml:6: target[1].family: must be ipv4 or ipv6, not \"x\"",
                "conf.d/b.toml:5: target[2]: must have exactly one of host = \"NAME\", at-large = true, push = { every = \"1h\" }",
                "conf.d/b.toml:7: target[2].hots: unknown key; did you mean host?",
            ]
        )
        try files.write("conf.d/b.toml", "schema = 1\n[listen]\nhttp = []\n")
        try files.write("conf.d/c.toml", "[[target]\n")
        #expect(
            files.problems.first
                == "conf.d/b.toml:2: listen: is not allowed in an included file, which may contain [[gate]], [[maintenance]], [[notify]], [[target]]"
        )
        #expect(files.problems.last?.hasPrefix("conf.d/c.toml:1:") == true)
        try files.write("serve.toml", "schema = 1\ninclude = \"none\"\n")
        #expect(files.problems == ["serve.toml:2: include: cannot read the directory none: No such file or directory"])
        try files.write("serve.toml", "schema = 1\ninclude = [\"conf.d\"]\n")
        #expect(files.problems == ["serve.toml:2: include: must be a string, not an array"])
    }

    @Test func `environment variables replace their names in strings`() throws {
        let text = """
            schema = 1
            [[target]]
            name = "${NAME}-$${NAME}$"
            host = "192.0.2.${LAST_1}"
            tags = ["$", "${NAME}${NAME}"]
            """
        let variables = ["NAME": "a$", "LAST_1": "7"]
        let configuration = try ServiceConfiguration(text, variable: { variables[$0] })
        let target = try #require(configuration.targets.first)
        #expect(target.name == "a$-${NAME}$")
        #expect(target.host == "192.0.2.7")
        #expect(target.tags == ["$", "a$a$"])
        // The document that the API shows has no values of variables.
        #expect(String(describing: configuration.document).contains("${LAST_1}"))
        let error = #expect(throws: ConfigurationProblems.self) {
            try ServiceConfiguration(
                "schema = 1\n[[target]]\nname = \"${OTHER}\"\nhost = \"${1}\"\ntags = [\"${NAME\"]\n",
                variable: { variables[$0] }
            )
        }
        let form = "must have the form ${NAME} with letters, digits and \"_\"; write $${ for the text ${"
        let found = (error?.problems ?? []).map { "\($0.line ?? 0) \($0.path): \($0.text)" }
        for problem in [
            "3 target[1].name: the environment variable OTHER is not set, or is empty",
            "4 target[1].host: \(form)", "5 target[1].tags[1]: \(form)",
        ] {
            #expect(found.contains(problem))
        }
    }

    @Test func `URLs and header fields can be in files`() throws {
        let files = Files()
        try files.write("url", "https://hooks.example.org/SECRET\n")
        try files.write("key", "Token SECRET\n")
        let notifier = """
            schema = 1
            [[notify]]
            name = "chat"
            webhook = { file = "\(files.path("url"))" }
            body = "{text}"
            headers = { X-Key = { file = "\(files.path("key"))" }, X-Other = "1" }
            [heartbeat]
            url = { file = "\(files.path("url"))" }
            """
        try files.write("serve.toml", notifier)
        let configuration = try files.read()
        guard case .webhook(let settings)? = configuration.notifiers.first?.channel else {
            Issue.record("there is no webhook")
            return
        }
        #expect(settings.url == "https://hooks.example.org/SECRET")
        #expect(settings.headers.map(\.value) == ["Token SECRET", "1"])
        #expect(configuration.heartbeat?.url == "https://hooks.example.org/SECRET")
        #expect(!String(describing: configuration.document).contains("SECRET"))
        try files.write("serve.toml", notifier.replacingOccurrences(of: "/url\"", with: "/none\""))
        let starts = [
            "serve.toml:4: notify[1].webhook.file: cannot read ", "serve.toml:8: heartbeat.url.file: cannot read ",
        ]
        #expect(files.problems.count == 2 && zip(files.problems, starts).allSatisfy { $0.hasPrefix($1) })
    }

    @Test func `files with secrets are checked if this user may read them`() throws {
        let files = Files()
        try files.write("token", "abc\n")
        try files.write("short", "abc\n")
        let text = """
            schema = 1
            [[target]]
            name = "backup"
            push = { every = "1h", token-file = "\(files.path("token"))" }
            [[notify]]
            name = "chat"
            webhook = "https://chat.example.org"
            secret-file = "\(files.path("short"))"
            [[notify]]
            name = "phone"
            format = "ntfy"
            webhook = "https://ntfy.example.org/x"
            token-file = "\(files.path("none"))"
            """
        let error = #expect(throws: ConfigurationProblems.self) { try ServiceConfiguration(text).checkSecrets() }
        #expect(error?.problems.map(\.path) == ["notify[1].secret-file", "notify[2].token-file"])
        #expect(error?.problems.last?.text.contains("No such file") == true)
        let good = text.replacingOccurrences(of: "/none", with: "/token").replacingOccurrences(
            of: "secret-file",
            with: "#"
        )
        #expect(try ServiceConfiguration(good).checkSecrets() == [])
        // A credential of systemd is not there without the unit.
        let credential = good.replacingOccurrences(of: files.path("token"), with: "name")
        #expect(try ServiceConfiguration(credential).checkSecrets() == ["name", "name"])
    }
}
