import NetworkLab
import Testing

/// `--interface`, and an address with the name of one: what is said is what packets bound to it do.
@Suite struct InterfaceTests {
    private static let hosts = ["1.1.1.1", "2606:4700:4700::1111"]

    @Test func `packets bound to an interface take its routes`() async throws {
        let network = try await LabThread.detached { try Topology(.two) }
        defer { network.close() }
        try await expect(network, over: "c0", true)
        try await expect(network, over: "c1", false)
        try await LabThread.detached {
            try network.client.ip(
                "-4 route add default via 10.2.0.1 dev c1 metric 500",
                "-6 route add default via fd02::1 dev c1 metric 5000"
            )
        }
        try await expect(network, over: "c0", true)
        try await expect(network, over: "c1", true)
        try await LabThread.detached {
            try network.client.ip("-4 route del default dev c0", "-6 route del default dev c0")
        }
        try await expect(network, over: "c0", false)
        try await expect(network, over: "c1", true)
        try await LabThread.detached { try network.client.ip("link set c1 down") }
        try await expect(network, over: "c1", false)
        try await expect(network, over: "c9", false)
    }

    private func expect(_ network: Topology, over name: String, _ isReachable: Bool) async throws {
        let bound = Self.hosts.map { "\($0)%\(name)" }
        let reachable = try await LabThread.detached {
            try network.oracle.reachable(of: bound, expecting: isReachable ? Set(bound) : [])
        }
        #expect(reachable == (isReachable ? Set(bound) : []), "packets over \(name)")
        let commands =
            bound.map { ["status", $0] } + Self.hosts.map { ["status", "--interface", name, $0] }
            + Self.hosts.map { ["why", "--interface", name, $0] } + [
                ["status", "--interface", name], ["status", "-4", "--interface", name],
                ["status", "-6", "--interface", name], ["why", "-6", "--interface", name],
            ]
        for command in commands {
            let result = try await Command.run(command, in: network.client)
            #expect(result.status == (isReachable ? 0 : 1), "\(command): \(result.output)\(result.errors)")
        }
        let waiting = try await Command.run(
            ["wait", "1.1.1.1", "--over", name, "--timeout", "50ms"],
            in: network.client
        )
        #expect(waiting.status == (isReachable ? 0 : 75))
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

    @Test(arguments: [["status"], ["watch"], ["why"]])
    func `what is no name of an interface is a usage error`(command: [String]) async throws {
        try await Command.run(command + ["--interface", "a/b"])
            .expectRefusal("\"a/b\" is no name of an interface: `ip link` shows those there are", status: 64)
    }

    @Test(arguments: [["status"], ["watch"], ["why"]])
    func `an address of the other family is a usage error`(command: [String]) async throws {
        try await Command.run(command + ["-4", "::1"]).expectRefusal("::1 is no IPv4 address", status: 64)
        try await Command.run(command + ["-6", "127.0.0.1"]).expectRefusal("127.0.0.1 is no IPv6 address", status: 64)
        #expect(try await Command.run(command + ["-4", "-6"]).status == 64)
    }

    @Test func `one family that is dead is told when it alone is asked about`() async throws {
        let uplink = try await Uplink.make()
        try await uplink.ip("-6 route flush default")
        for (family, status) in [("-4", 0), ("-6", 1)] {
            for command in ["status", "why"] {
                let result = try await Command.run([command, family], in: uplink.namespace)
                #expect(result.status == CInt(status), "\(command) \(family): \(result.output)")
            }
        }
    }
}
