import ReachabilityLedger
import Testing

@testable import ReachabilityService

/// Reading the settings of notifiers.
@Suite struct NotifyConfigurationTests {
    @Test func `all keys are read`() throws {
        let configuration = try ServiceConfiguration(
            """
            schema = 1
            [[notify]]
            name = "chat"
            webhook = "https://chat.example.org/hook?key=1"
            secret-file = "/etc/secret"
            after = "2m"
            only = ["us", "unknown"]
            targets = ["internet"]
            [[notify]]
            name = "hooks"
            exec = "/etc/reachability/hooks.d"
            limit = "5s"
            [[notify]]
            name = "pager"
            alertmanager = ["http://127.0.0.1:9093", "http://[::1]:9093/am/"]
            [[notify]]
            name = "journal"
            journal = true
            [[target]]
            name = "internet"
            at-large = true
            [heartbeat]
            url = "https://hc.example.org/ping/1"
            interval = "1m"
            """
        )
        #expect(
            configuration.notifiers == [
                NotifierSettings(
                    name: "chat",
                    channel: .webhook(
                        WebhookSettings(url: "https://chat.example.org/hook?key=1", secretFile: "/etc/secret")
                    ),
                    after: .seconds(120),
                    only: [.us, .unknown],
                    targets: ["internet"]
                ),
                NotifierSettings(name: "hooks", channel: .exec("/etc/reachability/hooks.d", limit: .seconds(5))),
                NotifierSettings(
                    name: "pager",
                    channel: .alertmanager(["http://127.0.0.1:9093", "http://[::1]:9093/am/"])
                ),
                NotifierSettings(name: "journal", channel: .journal),
            ]
        )
        #expect(
            configuration.heartbeat
                == HeartbeatSettings(url: "https://hc.example.org/ping/1", interval: .seconds(60))
        )
        #expect("\(configuration.notifiers)".contains("key=1") == false)
    }

    @Test func `all problems are reported at once without URLs`() {
        let text = """
            schema = 1
            [[notify]]
            name = "a"
            [[notify]]
            name = "a"
            webhook = "ftp://secret.example.org"
            [[notify]]
            name = "b"
            webhook = "https://user:secret@example.org/"
            journal = true
            [[notify]]
            exec = "hooks"
            secret-file = "x"
            after = "soon"
            only = ["up", "us"]
            targets = ["nowhere"]
            [[notify]]
            name = "c"
            journal = false
            [[notify]]
            name = "d"
            alertmanager = []
            only = []
            [heartbeat]
            interval = "1s"
            """
        let url = "must be a URL such as https://example.org/path, without a user name"
        let lines = ServiceConfiguration.problems(text)
        #expect(
            lines == [
                "f:2: notify[1]: must have exactly one of webhook, email, exec, alertmanager, journal, not none",
                "f:6: notify[2].webhook: \(url)",
                "f:7: notify[3]: must have exactly one of webhook, email, exec, alertmanager, journal, not webhook and journal",
                "f:9: notify[3].webhook: \(url)",
                "f:11: notify[4].name: missing",
                "f:12: notify[4].exec: must be the absolute path of a program or of a directory of programs",
                "f:13: notify[4].secret-file: is only allowed with webhook",
                "f:14: notify[4].after: must be a duration such as 90s, 5m or 400d, not \"soon\"",
                "f:15: notify[4].only[1]: must be one of us, upstream, them, unknown, degraded, not \"up\"",
                "f:16: notify[4].targets[1]: unknown target \"nowhere\"",
                "f:19: notify[5].journal: must be true; to disable the journal, remove the table",
                "f:22: notify[6].alertmanager: must contain at least one URL",
                "f:23: notify[6].only: must not be empty; allowed are us, upstream, them, unknown, degraded",
                "f:24: heartbeat.url: missing",
                "f:25: heartbeat.interval: must be at least 10s, not 1s",
            ]
        )
        #expect(!lines.joined().contains("secret.example"))
    }

    @Test func `a hub reads the same keys with sites instead of targets, and reports unknown by default`() throws {
        let configuration = try ServiceConfiguration(
            """
            schema = 1
            [[notify]]
            name = "chat"
            webhook = "https://chat.example.org/hook"
            sites = ["north", "hq.1"]
            [heartbeat]
            url = "https://hc.example.org/ping/1"
            """,
            for: .hub
        )
        #expect(
            configuration.notifiers == [
                NotifierSettings(
                    name: "chat",
                    channel: .webhook(WebhookSettings(url: "https://chat.example.org/hook")),
                    only: [.us, .upstream, .them, .unknown],
                    targets: ["north", "hq.1"]
                )
            ]
        )
        #expect(configuration.heartbeat?.interval == .seconds(300))
        let text = """
            schema = 1
            [[notify]]
            name = "chat"
            journal = true
            targets = ["internet"]
            sites = ["a/b", "c"]
            """
        let lines = ServiceConfiguration.problems(text, for: .hub)
        try #require(lines.count == 2)
        #expect(lines[0].hasPrefix("f:5: notify[1].targets: unknown key"))
        #expect(lines[1] == "f:6: notify[1].sites[1]: must be the name of a site, not \"a/b\"")
        #expect(throws: ConfigurationProblems.self) {
            try ServiceConfiguration("schema = 1\n[[notify]]\nname = \"x\"\njournal = true\nsites = [\"a\"]\n")
        }
    }
}
