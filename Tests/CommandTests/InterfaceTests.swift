import NetworkLab
import Testing

/// `--interface`, `--over`, `-4` and `-6`: the answer is for packets that are bound so.
@Suite struct InterfaceTests {
    @Test func `an interface and a family limit the answer`() async throws {
        let uplink = try await Uplink.make()
        try await uplink.ip("link add u1 type veth peer name far1", "link set u1 up", "link set far1 up")
        try await uplink.ip("addr add 198.51.100.2/24 dev u1", "-6 route flush default")
        let commands: [(words: [String], status: CInt)] = [
            (["status", "203.0.113.9%u0"], 0), (["status", "203.0.113.9%u1"], 1),
            (["status", "--interface", "u0", "203.0.113.9"], 0), (["status", "--interface", "u1", "203.0.113.9"], 1),
            (["why", "--interface", "u0", "203.0.113.9"], 0), (["why", "--interface", "u1", "203.0.113.9"], 1),
            (["status", "--interface", "u0"], 0), (["status", "--interface", "c9"], 1), (["status", "-4"], 0),
            (["status", "-6"], 1), (["why", "-4"], 0), (["why", "-6"], 1), (["status", "-4", "--interface", "u1"], 1),
            (["wait", "203.0.113.9", "--over", "u0", "--timeout", "1m"], 0),
            (["wait", "203.0.113.9", "--over", "u1", "--timeout", "50ms"], 75),
            (["why", "-4", "::1"], 64), (["watch", "--interface", "a/b"], 64),
        ]
        for (words, status) in commands {
            let result = try await Command.run(words, in: uplink.namespace)
            #expect(result.status == status, "\(words): \(result.output)\(result.errors)")
        }
    }

    @Test func `watch tells when the interface comes`() async throws {
        let uplink = try await Uplink.make()
        let watching = try await RunningCommand.start(
            ["watch", "--interface", "wan", "203.0.113.9"],
            in: uplink.namespace
        )
        #expect(try await watching.status(of: "203.0.113.9") == "not reachable, no interface")
        try await uplink.ip(
            "link set u0 down",
            "link set u0 name wan",
            "link set wan up",
            "route add default via 192.0.2.1"
        )
        while try await !watching.status(of: "203.0.113.9").hasPrefix("reachable") {}
    }
}
