import Foundation
import LinuxSupport
import NetworkLab
import TestSupport
import Testing

/// `reachability serve` against the real kernel.
@Suite struct ServeTests {
    @Test func `the service sleeps while nothing happens, also after an outage and requests`() async throws {
        let directory = ScratchDirectory()
        let lab = try await ServeLab.start(history: directory.file("history.sqlite"), in: directory)
        try await lab.uplink.ip("link set far down")
        try await waitUntil { try await !lab.outages().isEmpty }
        for path in ["/", "/outages", "/metrics", "/v1/status"] { _ = try await lab.get(path) }
        // The history marks a lasting outage every ten seconds.
        try await lab.uplink.ip("link set far up")
        try await waitUntil { try await lab.outages().allSatisfy { $0.end != nil } }
        // With a timer of one second the process would never rest.
        try await ThreadActivity(of: lab.command.identifier).waitForRest()
        #expect(try await lab.end() == 0)
    }

    @Test(arguments: [SIGTERM, SIGINT]) func `a signal ends the service cleanly`(signal: CInt) async throws {
        let lab = try await ServeLab.start()
        #expect(try await lab.get("/healthz") == "ok\n")
        #expect(try await lab.end(signal) == 0)
        #expect(access(lab.socket, F_OK) != 0)
        #expect(await lab.command.errors == "")
    }

    @Test func `a socket in use is refused, and one left by a killed service is replaced`() async throws {
        let lab = try await ServeLab.start()
        let arguments = ["serve", "--listen", "none", "--socket", lab.socket, "--history", "none"]
        try await Command.run(arguments)
            .expectRefusal("cannot listen at \(lab.socket): another service listens there", status: 69)
        #expect(try await lab.end(SIGKILL) == -SIGKILL)
        #expect(access(lab.socket, F_OK) == 0)
        let next = try await ServeLab.start(on: lab.uplink, in: lab.directory)
        #expect(try await next.get("/healthz") == "ok\n")
        #expect(try await next.end() == 0)
    }

    @Test func `an address in use is refused`() async throws {
        let namespace = try await Uplink.make().namespace
        let first = try await RunningCommand.start(["serve", "--socket", "none", "--history", "none"], in: namespace)
        #expect(try await first.line() == "listening at http://127.0.0.1:9672/")
        try await Command.run(["serve", "--socket", "none", "--history", "none"], in: namespace)
            .expectRefusal("cannot listen at 127.0.0.1:9672: another program listens there", status: 69)
        #expect(try await first.result(after: SIGTERM).status == 0)
    }

    @Test func `an unusable listening place is refused`() async throws {
        try await Command.run(["serve", "--listen", "192.0.2.1:80", "--socket", "none", "--history", "none"])
            .expectRefusal(
                "cannot listen at 192.0.2.1:80: without TLS, only loopback addresses are allowed; use listen.https in the configuration"
            )
        try await Command.run(["serve", "--listen", "none", "--socket", "none", "--history", "none"])
            .expectRefusal("cannot listen: no address and no socket is configured; name one with --listen or --socket")
        try await Command.run(["serve", "--listen", "none", "--socket", "/nowhere/s", "--history", "none"])
            .expectRefusal("cannot listen at /nowhere/s: No such file or directory", status: 73)
    }
}

/// The configuration of `reachability serve`, its reload, and its checks.
@Suite struct ServeConfigurationTests {
    private let directory = ScratchDirectory()
    private var file: String { directory.file("serve.toml") }
    private func write(_ targets: String) throws {
        try directory.write("serve.toml", "schema = 1\n\(targets)", mode: 0o644)
    }

    private static let internet = "[[target]]\nname = \"internet\"\nat-large = true\n"
    private static let other = "[[target]]\nname = \"other\"\nhost = \"203.0.113.9\"\n"

    @Test func `a reload applies changes and keeps the state of unchanged targets`() async throws {
        try write(Self.internet)
        let lab = try await ServeLab.start(["--config", file], in: directory)
        try await lab.uplink.setConnected(false)
        try await waitUntil { try await lab.outages().count == 1 }
        try write(Self.internet + Self.other)
        lab.command.signal(SIGHUP)
        try await lab.command.untilErrors(contain: "reachability: \(file) is applied\n")
        #expect(try await lab.get("/metrics").contains("seconds_total{target=\"other\",state=\"us\"}"))
        // The lasting outage is the same.
        #expect(try await lab.outages().filter { $0.target == "internet" }.map(\.end) == [nil])
        try write(Self.other)
        #expect(try await post(lab).contains("\"needsRestart\":[],\"targets\":[\"other\"]"))
        try write("[listen]\nhttp = []\n" + Self.other)
        #expect(try await post(lab).contains("\"needsRestart\":[\"listen\"]"))
        try write("[[target]]\nname = \"x\"\nhots = \"203.0.113.9\"\n")
        lab.command.signal(SIGHUP)
        try await lab.command.untilErrors(contain: "is not applied; the previous configuration stays in force\n")
        #expect(try await lab.end() == 0)
    }

    @Test func `--reload makes the service read its configuration again`() async throws {
        try write(Self.internet)
        let lab = try await ServeLab.start(["--config", file], in: directory)
        let reload = ["serve", "--reload", "--socket", lab.socket]
        try write(Self.internet + Self.other)
        #expect(try await Command.run(reload) == CommandResult(status: 0, output: "\(file) is applied\n", errors: ""))
        try write("[listen]\nhttp = []\n" + Self.other)
        #expect(try await Command.run(reload).output == "\(file) is applied; a restart is needed for listen\n")
        try write("[[target]]\nname = \"x\"\nhost = \"203.0.113.9\"\nhots = 1\n")
        let refused = try await Command.run(reload)
        #expect(refused.status == 78)
        #expect(
            refused.errors == """
                \(file):5: target[1].hots: unknown key; did you mean host?
                reachability: \(file) is not applied; the previous configuration stays in force

                """
        )
        #expect(try await lab.end() == 0)
        try await Command.run(reload)
            .expectRefusal(
                "cannot query \(lab.socket): no service listens there; start one with `reachability serve`, or name its socket with --socket or its address with --url",
                status: 69
            )
        let without = try await ServeLab.start()
        try await Command.run(["serve", "--reload", "--socket", without.socket])
            .expectRefusal("the service was started without a configuration; start it with --config", status: 69)
        #expect(try await without.end() == 0)
    }

    @Test func `a target of an included file receives pushes, and errors of included files are reported`() async throws
    {
        try directory.makeFolder("conf.d")
        try directory.write("conf.d/a.toml", "[[target]]\nname = \"it\"\npush = { every = \"1h\" }\n", mode: 0o644)
        try write("include = \"conf.d\"\n")
        let lab = try await ServeLab.start(["--config", file], in: directory)
        #expect(try await lab.object("/v1/targets/it")["state"] as? String == "unknown")
        let answer = try await ServeLab.send("POST", "/v1/push/it?status=down&message=full", at: lab.socket)
        #expect(answer.hasPrefix("HTTP/1.1 200 "), "\(answer)")
        #expect(try await attribution(lab) == "them path+checks")
        try directory.write("conf.d/b.toml", "[[target]]\nname = \"it\"\n", mode: 0o644)
        let refused = try await post(lab)
        #expect(refused.hasPrefix("HTTP/1.1 422 ") && refused.contains("conf.d/b.toml:"), "\(refused)")
        #expect(try await lab.end() == 0)
    }

    @Test func `--check validates a file without running the service`() async throws {
        try write(Self.internet)
        for good in [file, Checkout.path("examples/serve.toml")] {
            let result = try await Command.run(["serve", "--check", good])
            #expect(result == CommandResult(status: 0, output: "the configuration is valid\n", errors: ""))
        }
        try write("[listen]\nport = 1\n[history]\nkeep = 1\n")
        for option in ["--check", "--config"] {
            let result = try await Command.run(["serve", option, file, "--history", "none"])
            #expect(result.status == 78)
            #expect(
                result.errors == """
                    \(file):3: listen.port: unknown key; the known keys are dbus, http, https, socket
                    \(file):5: history.keep: must be a string, not an integer

                    """
            )
        }
        let phone = "[[notify]]\nname = \"phone\"\nformat = \"ntfy\"\nwebhook = \"https://n.example/x\"\n"
        try write("\(phone)token-file = \"/nowhere/token\"\n")
        let secret = try await Command.run(["serve", "--check", file])
        #expect(secret.status == 78)
        #expect(secret.errors.hasPrefix("\(file):6: notify[1].token-file: cannot read /nowhere/token: "))
        try write("\(phone)token-file = \"token\"\n")
        let hidden = try await Command.run(["serve", "--check", file])
        #expect(hidden.status == 0)
        #expect(hidden.errors.contains("CREDENTIALS_DIRECTORY is not set; for a file, write ./token"))
        // A new network namespace permits no ping.
        try write("[[target]]\nname = \"gw\"\nhost = \"127.0.0.1\"\nchecks = [\"ping\"]\n")
        let pinging = try await Command.run(["serve", "--check", file], in: try LabNamespace())
        #expect(pinging.status == 0 && pinging.errors.contains("ping is not permitted"), "\(pinging)")
        let missing = try await Command.run(["serve", "--check", "/nowhere"])
        #expect(
            missing
                == CommandResult(
                    status: 78,
                    output: "",
                    errors: "/nowhere: cannot read the file: No such file or directory\n"
                )
        )
    }

    private func post(_ lab: ServeLab) async throws -> String {
        try await ServeLab.send("POST", "/v1/reload", at: lab.socket)
    }

    private func attribution(_ lab: ServeLab) async throws -> String {
        let target = try await lab.object("/v1/targets/it")
        return "\(target["attribution"] ?? "-") \(target["basis"] ?? "-")"
    }

    @Test func `a deleted namespace is not observed, and no fault is attributed`() async throws {
        let namespace = try await NamedNamespace.make()
        try write(
            "[[target]]\nname = \"it\"\nat-large = true\nnamespace = \"\(namespace.name)\"\nchecks = [\"network\"]\n"
        )
        let lab = try await ServeLab.start(["--config", file], in: directory)
        try await waitUntil { try await attribution(lab) == "upstream path+checks" }
        namespace.delete()
        try await waitUntil { try await attribution(lab) == "unknown path" }
        #expect(try await lab.object("/v1/targets/it")["cause"] as? String == "notObserved")
        #expect(try await lab.outages().map(\.ending) == ["unknown"])
        // A new namespace with the same name is checked, and not the deleted one.
        let other = try await NamedNamespace.make(namespace.name)
        try await waitUntil { try await attribution(lab) == "upstream path+checks" }
        let counters = "/proc/thread-self/net/dev"
        let before = try await other.uplink.namespace.perform { TextFile.read(counters) }
        try await waitUntil { try await other.uplink.namespace.perform { TextFile.read(counters) } != before }
        #expect(try await lab.end() == 0)
    }

    @Test func `the service ends immediately during checks`() async throws {
        try write(
            (1...50).map { "[[target]]\nname = \"\($0)\"\nhost = \"203.0.113.\($0)\"\nchecks = [\"tcp:443\"]\n" }
                .joined()
        )
        let lab = try await ServeLab.start(["--config", file], in: directory)
        try await waitUntil { try await lab.get("/metrics").contains("reachability_checks_total{") }
        let start = ContinuousClock.now
        #expect(try await lab.end() == 0)
        // Only a machine without other work can meet this limit.
        if getenv("SERVICE_TIMES") != nil { #expect(ContinuousClock.now - start < .seconds(1)) }
    }

    @Test func `unresolved names delay no request and stay within their limits`() async throws {
        let names = (1...1000).map {
            "[[target]]\nname = \"\($0)\"\nhost = \"n\($0).invalid\"\nchecks = [\"tcp:443\"]\n"
        }
        try write(names.joined())
        let lab = try await ServeLab.start(["--config", file], in: directory)
        try await waitUntil { try await lab.get("/metrics").contains("reachability_checks_total{") }
        let metrics = try await lab.get("/metrics")
        #expect(metrics.contains("reachability_targets 1000\n"))
        let descriptors = metrics.firstRange(of: "\nprocess_open_fds ").map {
            metrics[$0.upperBound...].prefix { $0 != "\n" }
        }
        #expect(try #require(descriptors.flatMap { Int($0) }) < 1500)
        #expect(try await lab.end() == 0)
    }
}
