import Glibc
import NetworkLab
import Testing

/// `reachability watch`: the state now, then a line for each change, and no line without a change.
@Suite struct WatchTests {
    private static let way = "reachable (ethernet or Wi-Fi), interface u0, gateway 192.0.2.1, source 192.0.2.2"

    @Test func `the first line is the state now, then each change of the status has a line`() async throws {
        let uplink = try await Uplink.make()
        let watch = try await RunningCommand.start(["watch"], in: uplink.namespace)
        #expect(try await watch.status() == Self.way)
        try await uplink.setConnected(false)
        #expect(try await watch.status() == "not reachable, no route")
        try await uplink.setConnected(true)
        #expect(try await watch.status() == Self.way)
        // What does not change the status is silent.
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
        watch.signal(SIGINT)
        #expect(try await watch.result().lines.count == 4)
    }

    @Test func `several targets have their own lines, also one that is named twice, and --flags its changes`()
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
        // Flags that leave the status alone.
        try await uplink.ip("addr add 203.0.113.1/24 dev u0")
        for _ in 0..<2 {
            let direct = try await watch.status(of: "203.0.113.9")
            #expect(direct.hasPrefix("reachable (ethernet or Wi-Fi), flags -R ------d"))
        }
        watch.signal(SIGTERM)
        #expect(try await watch.result().lines.count == 7)
    }

    @Test func `--paths tells of the way`() async throws {
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
        watch.signal(SIGTERM)
        #expect(try await watch.result().lines.count == 4)
    }

    @Test(arguments: [[], ["--flags", "--paths"]])
    func `another reason is a line of its own, the same reason is none`(options: [String]) async throws {
        let uplink = try await Uplink.make()
        let watch = try await RunningCommand.start(["watch", "203.0.113.9"] + options, in: uplink.namespace)
        func reason() async throws -> String {
            let words = try await watch.status(of: "203.0.113.9").split(separator: ", ")
            return words.dropFirst().first.map(String.init) ?? ""
        }
        #expect(try await watch.status(of: "203.0.113.9").hasPrefix("reachable"))
        try await uplink.ip("-4 route add prohibit 203.0.113.0/24")
        #expect(try await reason() == "prohibited by a route or rule")
        // Another route, the same reason.
        try await uplink.ip("-4 route add prohibit 203.0.113.9")
        try await uplink.ip("-4 route add unreachable 203.0.113.9 metric 1", "-4 route del prohibit 203.0.113.9")
        #expect(try await reason() == "a route says unreachable")
        try await uplink.ip(
            "-4 route del default",
            "-4 route del prohibit 203.0.113.0/24",
            "-4 route del unreachable 203.0.113.9"
        )
        #expect(try await reason() == "no route")
        try await uplink.ip("link set u0 down")
        #expect(try await reason() == "no carrier")
        watch.signal(SIGTERM)
        #expect(try await watch.result().lines.count == 5)
    }

    @Test func `--mark asks as packets with that mark`() async throws {
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

    @Test func `--settle passes over what does not last`() async throws {
        let uplink = try await Uplink.make()
        let watch = try await RunningCommand.start(["watch", "--settle", "10s"], in: uplink.namespace)
        #expect(try await watch.status() == Self.way)
        // In one go, so that it cannot last.
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
        watch.signal(SIGTERM)
        let result = try await watch.result()
        #expect(result.lines.count == 2)
        #expect(result.errors.isEmpty)
    }

    @Test func `--verbose logs to standard error alone`() async throws {
        let uplink = try await Uplink.make()
        let result = try await Command.run(["status", "--verbose"], in: uplink.namespace)
        #expect(result.lines.count == 1)
        let watch = try await RunningCommand.start(["watch", "-v"], in: uplink.namespace)
        #expect(try await watch.status() == Self.way)
        watch.signal(SIGTERM)
        let end = try await watch.result()
        #expect(end.lines.count == 1)
        #expect(end.errors.contains("path changed"))
    }
}
