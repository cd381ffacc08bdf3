import Foundation
import NetworkLab
import Testing

/// Notifications of `reachability serve` with hooks, webhooks and Alertmanager, against the real kernel.
@Suite struct ServeNotifyTests {
    private let directory = ScratchDirectory()

    /// Starts the service with these notifiers, which are notified of everything immediately.
    private func start(
        on uplink: Uplink,
        _ notifiers: String...,
        arguments: [String] = []
    ) async throws -> ServeLab {
        let tables = notifiers.map { "[[notify]]\nafter = \"0s\"\n\($0)\n" }
        try directory.write("serve.toml", "schema = 1\n" + tables.joined(), mode: 0o644)
        return try await ServeLab.start(
            ["--config", directory.file("serve.toml")] + arguments,
            history: directory.file("history.sqlite"),
            on: uplink,
            in: directory
        )
    }

    private func server(in uplink: Uplink, _ answer: String) async throws -> AnswerServer {
        // The thread of the server is started outside, because it would keep the namespace and run other work in it.
        let server = try await uplink.namespace.perform { try AnswerServer(answer, isAway: true) }
        try server.comeBack()
        return server
    }

    @Test func `a mail program that ignores its input has its own exit status`() async throws {
        try directory.write("mail", "#!/bin/sh\nexit 67\n")
        // The message is larger than the buffer of a pipe.
        let addresses = (0..<4000).map { "\"user\($0)@mail.example.org\"" }.joined(separator: ", ")
        let table = "[[notify]]\nname = \"mail\"\nemail = [\(addresses)]\nsendmail = \"\(directory.file("mail"))\"\n"
        try directory.write("serve.toml", "schema = 1\n\(table)", mode: 0o644)
        let words = ["serve", "--config", directory.file("serve.toml"), "--test-notification", "mail"]
        let result = try await Command.run(words)
        #expect(result.status == 69 && result.errors.contains("exit status 67"), "\(result)")
    }

    @Test func `a hook receives all variables, and a hanging hook is killed with its children`() async throws {
        let uplink = try await Uplink.make()
        let hooks = directory.file("hooks.d")
        try directory.makeFolder("hooks.d")
        try directory.write("hooks.d/10-hang", "#!/bin/sh\nsleep 3600 & echo $! >\(directory.file("child"))\nwait\n")
        try directory.write("hooks.d/20-tell", "#!/bin/sh\nenv | grep ^REACHABILITY_ | sort\necho .\n")
        let lab = try await start(on: uplink, "name = \"local\"\nexec = \"\(hooks)\"\nlimit = \"10s\"")
        try await uplink.setConnected(false)
        var variables: [String: String] = [:]
        while case let line = try await lab.command.line(), line != "." {
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            variables[parts[0]] = parts[1]
        }
        let outage = try #require(try await lab.outages().first)
        #expect(variables["REACHABILITY_EVENT"] == "began")
        #expect(variables["REACHABILITY_NOTIFIER"] == "local")
        #expect(variables["REACHABILITY_TARGET"] == "internet")
        #expect(variables["REACHABILITY_ATTRIBUTION"] == "us")
        #expect(variables["REACHABILITY_CAUSE"] == "route")
        #expect(variables["REACHABILITY_OUTAGE"] == outage.id)
        #expect(variables["REACHABILITY_START"] == outage.start)
        #expect(["false", "true"].contains(variables["REACHABILITY_DELAYED"]))
        #expect(await lab.command.errors.contains("local: \(hooks)/10-hang: ended by signal 15 after "))
        let child = try #require(pid_t(String(contentsOfFile: directory.file("child"), encoding: .utf8).dropLast()))
        // The process may be a zombie until its new parent waits for it.
        let state = (try? String(contentsOfFile: "/proc/\(child)/stat", encoding: .utf8))?.split(separator: " ")
        #expect(state == nil || state?[2] == "Z")
        #expect(try await lab.end() == 0)
    }

    @Test func `a delivered notification is not repeated, and the service sleeps`() async throws {
        let uplink = try await Uplink.make()
        let server = try await server(in: uplink, "200 OK")
        let lab = try await start(
            on: uplink,
            "name = \"chat\"\nwebhook = \"\(server.url)\"",
            "name = \"by name\"\nwebhook = \"http://localhost:\(server.port)/\"\n"
                + "[heartbeat]\nurl = \"\(server.url)beat\"\ninterval = \"1h\""
        )
        for (number, isConnected) in [(1, false), (2, true)] {
            try await uplink.setConnected(isConnected)
            try await waitUntil {
                let metrics = try await lab.get("/metrics")
                return ["chat", "by name"].allSatisfy {
                    let delivered = "reachability_notifications_total{name=\"\($0)\",result=\"delivered\"}"
                    return metrics.contains("\(delivered) \(number)\n")
                }
            }
        }
        try await waitUntil { server.requests.contains { $0.hasPrefix("GET /beat ") } }
        // With a timer of one second the process would never rest.
        try await ThreadActivity(of: lab.command.identifier).waitForRest()
        #expect(try await lab.end() == 0)
    }

    @Test(.enabled(if: Tools.has(Alertmanager.program))) func `a real Alertmanager receives the alert and its end`()
        async throws
    {
        let uplink = try await Uplink.make()
        let manager = try await Alertmanager.start(in: uplink, directory)
        let lab = try await start(on: uplink, "name = \"pager\"\nalertmanager = [\"\(manager.url)\"]")
        try await uplink.setConnected(false)
        try await waitUntil { try await manager.alerts(in: uplink).contains("\"target\":\"internet\"") }
        let alerts = try await manager.alerts(in: uplink)
        #expect(alerts.contains("\"attribution\":\"us\"") && alerts.contains("\"cause\":\"route\""))
        #expect(alerts.contains("\"state\":\"active\"") || alerts.contains("\"state\":\"unprocessed\""))
        try await uplink.setConnected(true)
        // An ended alert is not listed.
        try await waitUntil { try await manager.alerts(in: uplink) == "[]\n" }
        #expect(try await lab.end() == 0)
    }
}

/// The Alertmanager of the Debian package.
private struct Alertmanager: Sendable {
    static let program = "prometheus-alertmanager"

    let url = "http://127.0.0.1:9093"
    private let running: RunningCommand

    static func start(in uplink: Uplink, _ directory: ScratchDirectory) async throws -> Alertmanager {
        try directory.write("am.yml", "route: { receiver: none }\nreceivers: [{ name: none }]\n", mode: 0o644)
        let arguments = [
            "--config.file=\(directory.file("am.yml"))", "--storage.path=\(directory.file("am"))",
            "--web.listen-address=127.0.0.1:9093", "--cluster.listen-address=",
        ]
        let running = try await RunningCommand.start(in: uplink.namespace) { try LabProcess(program, arguments) }
        let manager = Alertmanager(running: running)
        try await waitUntil { try await manager.alerts(in: uplink) == "[]\n" }
        return manager
    }

    func alerts(in uplink: Uplink) async throws -> String {
        try await uplink.namespace.perform { [url] in
            try LabProcess("curl", ["-s", "\(url)/api/v2/alerts"]).wait().output
        }
    }
}
