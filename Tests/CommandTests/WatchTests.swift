import Glibc
import NetworkLab
import Testing

/// `reachability watch`: the current state, then a line for each change, and no line without a change.
@Suite struct WatchTests {
    private static let way = "reachable (ethernet or Wi-Fi), interface u0, gateway 192.0.2.1, source 192.0.2.2"

    @Test func `the first line is the current state, and each change of the status has a line`() async throws {
        let uplink = try await Uplink.make()
        let watch = try await RunningCommand.start(["watch"], in: uplink.namespace)
        #expect(try await watch.status() == Self.way)
        try await uplink.setConnected(false)
        #expect(try await watch.status() == "not reachable, no route")
        try await uplink.setConnected(true)
        #expect(try await watch.status() == Self.way)
        // Changes that do not affect the status print nothing.
        try await uplink.ip(
            "route add 203.0.113.0/24 via 192.0.2.7",
            "route del 203.0.113.0/24",
            "link add v0 type veth peer name v1",
            "link set v0 up",
            "link del v0",
            "addr add 192.0.2.99/24 dev u0",
            "route replace default via 192.0.2.8",
            "route replace default via 192.0.2.9 src 192.0.2.99",
            "rule add pref 100 lookup main",
            "rule del pref 100"
        )
        try await uplink.setConnected(false)
        #expect(try await watch.status() == "not reachable, no route")
        #expect(try await watch.result(after: SIGINT).lines.count == 4)
    }

    @Test func `several targets have their own lines, also if one is given twice, and --flags prints changes of flags`()
        async throws
    {
        let uplink = try await Uplink.make()
        let hosts = ["127.0.0.1", "203.0.113.9", "203.0.113.9", "198.51.100.1"]
        let watch = try await RunningCommand.start(["watch", "--flags"] + hosts, in: uplink.namespace)
        for _ in hosts { _ = try await watch.line() }
        try await uplink.ip("route add prohibit 198.51.100.1")
        #expect(
            try await watch.status(of: "198.51.100.1").hasPrefix("not reachable, prohibited by a route or rule, flags")
        )
        // Changes of flags that do not affect the status.
        try await uplink.ip("addr add 203.0.113.1/24 dev u0")
        for _ in 0..<2 {
            let direct = try await watch.status(of: "203.0.113.9")
            #expect(direct.hasPrefix("reachable (ethernet or Wi-Fi), flags -R ------d"))
        }
        #expect(try await watch.result(after: SIGTERM).lines.count == 7)
    }

    @Test func `--paths prints changes of interface, gateway and source`() async throws {
        let uplink = try await Uplink.make()
        let watch = try await RunningCommand.start(["watch", "--paths"], in: uplink.namespace)
        #expect(try await watch.status() == Self.way)
        try await uplink.ip("route replace default via 192.0.2.8")
        #expect(try await watch.status().contains("gateway 192.0.2.8"))
        try await uplink.ip("addr add 192.0.2.99/24 dev u0")
        try await uplink.ip("route replace default via 192.0.2.8 src 192.0.2.99")
        #expect(try await watch.status().contains("source 192.0.2.99"))
        try await uplink.ip(
            "link add v0 type veth peer name v1",
            "link set v1 up",
            "link set v0 up",
            "addr add 198.18.0.1/24 dev v0",
            "route replace default via 198.18.0.9 dev v0"
        )
        #expect(try await watch.status().contains("interface v0, gateway 198.18.0.9, source 198.18.0.1"))
        #expect(try await watch.result(after: SIGTERM).lines.count == 4)
    }

    @Test func `--mark queries for packets with that mark`() async throws {
        let uplink = try await Uplink.make(isConnected: false)
        try await uplink.ip("route add default via 192.0.2.1 table 77", "rule add fwmark 0x4d lookup 77")
        for (mark, status) in [("77", 0), ("0x4d", 0), ("0X4D", 0), ("78", 1), ("0", 1)] as [(String, CInt)] {
            let result = try await Command.run(["status", "--mark", mark], in: uplink.namespace)
            #expect(result.status == status, "\(mark)")
        }
        #expect(try await Command.run(["status"], in: uplink.namespace).status == 1)
        let watch = try await RunningCommand.start(["watch", "--mark=77"], in: uplink.namespace)
        #expect(try await watch.status() == Self.way)
        try await uplink.ip("rule del fwmark 0x4d")
        #expect(try await watch.status() == "not reachable, no route")
        try await uplink.ip("rule add fwmark 0x4d lookup 77")
        #expect(try await watch.status() == Self.way)
    }

    @Test func `--settle ignores states that do not last`() async throws {
        let uplink = try await Uplink.make()
        let watch = try await RunningCommand.start(["watch", "--settle", "10s"], in: uplink.namespace)
        #expect(try await watch.status() == Self.way)
        // The changes are made in one batch, so that the states cannot last.
        try await uplink.ip(
            "link set u0 down",
            "link set u0 up",
            "route add default via 192.0.2.1",
            "addr add 2001:db8::2/64 dev u0 nodad",
            "route add default via 2001:db8::1"
        )
        let start = ContinuousClock.now
        try await uplink.setConnected(false)
        #expect(try await watch.status() == "not reachable, no route")
        #expect(ContinuousClock.now - start >= .seconds(10))
        let result = try await watch.result(after: SIGTERM)
        #expect(result.lines.count == 2)
        #expect(result.errors.isEmpty)
    }

    @Test func `--verbose logs only to standard error`() async throws {
        let uplink = try await Uplink.make()
        let result = try await Command.run(["status", "--verbose"], in: uplink.namespace)
        #expect(result.lines.count == 1)
        let watch = try await RunningCommand.start(["watch", "-v"], in: uplink.namespace)
        #expect(try await watch.status() == Self.way)
        let end = try await watch.result(after: SIGTERM)
        #expect(end.lines.count == 1)
        #expect(end.errors.contains("path changed"))
    }
}

/// The statistics of `watch`.
@Suite struct StatisticsTests {
    private static let numbers =
        #"reachability: messages \d+, irrelevant \d+, overruns 0, foreign 0, evaluations [1-9]\d*, "#
        + #"targets [1-9]\d*, lookups [1-9]\d*, listener calls \d+, lag: "#

    @Test(arguments: [["watch"], ["watch", "--json", "203.0.113.1", "203.0.113.2"]])
    func `SIGUSR1 writes the statistics to standard error, and watch continues`(arguments: [String]) async throws {
        let targets = max(1, arguments.count - 2)
        let uplink = try await Uplink.make()
        let watch = try await RunningCommand.start(arguments, in: uplink.namespace)
        for _ in 0..<targets { _ = try await watch.line() }
        watch.signal(SIGUSR1)
        try await waitUntil { await watch.errors.hasSuffix("\n") }
        let result = try await watch.result(after: SIGTERM)
        #expect(result.status == 0 && result.lines.count == targets)
        #expect(try result.errors.wholeMatch(of: Regex(Self.numbers + "count 0\n")) != nil, "\(result.errors)")
    }
}

/// Netlink that a sandbox denies permanently or temporarily.
@Suite struct SandboxTests {
    private static func start(
        _ arguments: [String],
        in namespace: LabNamespace,
        denyingWith error: CInt
    ) async throws -> (Sandbox, RunningCommand) {
        try await namespace.perform {
            try Sandbox.enter(denyingNetlinkWith: error) { RunningCommand(try Command.start(arguments)) }
        }
    }

    @Test func `status is unknown without netlink`() async throws {
        let uplink = try await Uplink.make()
        let (sandbox, status) = try await Self.start(
            ["status", "--json", "203.0.113.9", "::1"],
            in: uplink.namespace,
            denyingWith: EPERM
        )
        let result = try await status.result()
        #expect(result.status == 2)
        #expect(result.errors.isEmpty)
        #expect(result.lines.count == 2)
        for text in result.lines {
            let line = try JSONLine(text)
            #expect(line["status"] == "unknown")
            #expect(line["reason"] == "netlinkUnavailable")
        }
        #expect(sandbox.denials > 0)
    }

    @Test func `watch starts with unknown and recovers when netlink is permitted`() async throws {
        let uplink = try await Uplink.make()
        let (sandbox, watch) = try await Self.start(["watch"], in: uplink.namespace, denyingWith: EAFNOSUPPORT)
        #expect(try await watch.status() == "unknown, netlink is not available")
        // The command retries, and does not report each attempt.
        try await waitUntil { sandbox.denials >= 4 }
        #expect(sandbox.denials < 20)
        sandbox.allow()
        #expect(try await watch.status().hasPrefix("reachable"))
        try await uplink.setConnected(false)
        #expect(try await watch.status() == "not reachable, no route")
        let result = try await watch.result(after: SIGTERM)
        #expect(result.status == 0)
        #expect(result.lines.count == 3)
    }

    @Test func `a descriptor limit too low for poll is reported and costs no processor time`() async throws {
        let uplink = try await Uplink.make()
        let watch = try await RunningCommand.start(["watch"], in: uplink.namespace)
        #expect(try await watch.status().hasPrefix("reachable"))
        // From the next event on, poll(2) refuses more descriptors than the process may have.
        try await Self.prlimit(watch, "1:4096")
        try await uplink.setConnected(false)
        var status = try await watch.status()
        if status.hasPrefix("not reachable") { status = try await watch.status() }
        #expect(status == "unknown, netlink is not available")
        try await Self.prlimit(watch, "1024:4096")
        while try await watch.status() != "not reachable, no route" {}
        try await uplink.setConnected(true)
        #expect(try await watch.status().hasPrefix("reachable"))
        #expect(try await watch.result(after: SIGTERM).status == 0)
    }

    private static func prlimit(_ command: RunningCommand, _ limits: String) async throws {
        let identifier = command.identifier
        let result = try await LabThread.detached {
            try LabProcess("prlimit", ["--pid", "\(identifier)", "--nofile=\(limits)"]).wait()
        }
        guard result.status == 0 else { throw LabError("prlimit: \(result.errors)") }
    }
}
