import NetworkLab
import Testing

/// `reachability status`: one line for each host, and an exit status for scripts.
@Suite struct StatusTests {
    @Test func `0 is reachable`() async throws {
        let uplink = try await Uplink.make()
        let result = try await Command.run(["status"], in: uplink.namespace)
        #expect(result.status == 0)
        #expect(result.errors.isEmpty)
        let way = "interface u0, gateway 192.0.2.1, source 192.0.2.2, over IPv4 and IPv6"
        let text = "network: reachable (ethernet or Wi-Fi), \(way)\n"
        #expect(result.output.hasSuffix("Z \(text)"))
        #expect(result.lines.count == 1)
        #expect(result.output.prefixMatch(of: #/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{3}Z /#) != nil)
    }

    @Test(arguments: [(4, "IPv4 only"), (6, "IPv6 only")])
    func `one family that is left is told`(family: Int, text: String) async throws {
        let uplink = try await Uplink.make()
        try await uplink.ip("\(family == 4 ? "-6" : "-4") route flush default")
        let result = try await Command.run(["status"], in: uplink.namespace)
        #expect(result.status == 0)
        #expect(result.output.hasSuffix(", over \(text)\n"))
    }

    @Test func `hosts of a file have a line each, after those of the command line`() async throws {
        let uplink = try await Uplink.make()
        let file = try HostsFile("\u{feff}203.0.113.9 # first\n\n::1\n203.0.113.9\n")
        let result = try await Command.run(["status", "--file", file.path, "127.0.0.1"], in: uplink.namespace)
        #expect(result.status == 0)
        let hosts = result.lines.map { $0.split(separator: " ")[1].dropLast() }
        #expect(hosts == ["127.0.0.1", "203.0.113.9", "::1"])
        let script = "echo 203.0.113.9 | $R status --file -"
        #expect(try await Command.run(script: script, in: uplink.namespace).lines.count == 1)
    }

    @Test func `a file that cannot be asked about is refused`() async throws {
        let file = try HostsFile("x:1\n127.0.0.1\na b\n")
        let result = try await Command.run(["status", "--file", file.path])
        #expect(result.status == 65)
        #expect(result.output.isEmpty)
        #expect(result.errors.split(separator: "\n").map { $0.split(separator: ":")[2] } == ["1", "3"])
        try file.write("# nobody\n")
        try await Command.run(["status", "--file", file.path]).expectRefusal("\(file.path) has no hosts", status: 65)
        try await Command.run(["status", "--file", "/nowhere"])
            .expectRefusal("cannot read the hosts in /nowhere: No such file or directory", status: 66)
    }

    @Test func `1 is not reachable`() async throws {
        let uplink = try await Uplink.make(isConnected: false)
        let result = try await Command.run(["status"], in: uplink.namespace)
        #expect(result.status == 1)
        #expect(result.errors.isEmpty)
        #expect(result.output.hasSuffix("Z network: not reachable, no route\n"))
    }

    @Test func `several hosts have a line each, in their order, also one named twice`() async throws {
        let uplink = try await Uplink.make()
        let hosts = ["203.0.113.9", "localhost", "::1", "2001:db8:9::9", "203.0.113.9"]
        let result = try await Command.run(["status"] + hosts, in: uplink.namespace)
        #expect(result.status == 0)
        #expect(result.lines.map { $0.split(separator: " ")[1].dropLast() }.map(String.init) == hosts)
    }

    @Test(arguments: [
        (["203.0.113.9", "198.51.100.1"], 1), (["198.51.100.1", "203.0.113.9"], 1), (["203.0.113.9", "127.0.0.1"], 0),
    ])
    func `one host that is not reachable decides`(hosts: [String], status: Int) async throws {
        let uplink = try await Uplink.make()
        try await uplink.ip("route add prohibit 198.51.100.1")
        let result = try await Command.run(["status"] + hosts, in: uplink.namespace)
        #expect(result.status == CInt(status))
        #expect(result.lines.count == 2)
    }

    /// A name service that never answers: the question leaves by the uplink, and nobody is there.
    private static func withSilentNames(_ script: String, in namespace: LabNamespace) async throws -> CommandResult {
        let files = """
            d=$(mktemp -d) && echo nameserver 192.0.2.53 > $d/resolv && echo hosts: files dns > $d/switch &&
            mount --bind $d/resolv /etc/resolv.conf && mount --bind $d/switch /etc/nsswitch.conf && rm -r $d;
            """
        return try await Command.run(script: "unshare --mount sh -c '\(files) \(script)'", in: namespace)
    }

    @Test func `2 is unknown: a name service that does not answer`() async throws {
        let uplink = try await Uplink.make()
        let result = try await Self.withSilentNames("exec $R status silent.example", in: uplink.namespace)
        #expect(result.status == 2)
        #expect(result.errors.isEmpty)
        #expect(result.output.hasSuffix(" silent.example: unknown, name not resolved yet\n"))
    }

    /// The address connections take first, whatever the file's order.
    @Test func `a name of both families in a hosts file has the address that getaddrinfo has first`() async throws {
        let uplink = try await Uplink.make()
        let script = """
            d=$(mktemp -d) && echo hosts: files > $d/switch &&
            printf "192.0.2.9 dual.example\\n2001:db8::9 dual.example\\n" > $d/hosts &&
            mount --bind $d/hosts /etc/hosts && mount --bind $d/switch /etc/nsswitch.conf && rm -r $d;
            getent ahosts dual.example | head -n 1; for i in 1 2 3 4 5 6 7 8 9; do $R status dual.example --json; done
            """
        let result = try await Command.run(script: "unshare --mount sh -c '\(script)'", in: uplink.namespace)
        let first = try #require(result.lines.first?.split(separator: " ").first)
        #expect(result.lines.dropFirst().count == 9)
        #expect(result.lines.dropFirst().allSatisfy { $0.contains("\"\(first)\"") }, "\(result)")
    }

    /// Each of them alone takes two seconds.
    @Test func `silent names are waited for side by side`() async throws {
        let uplink = try await Uplink.make()
        let names = (1...9).map { "silent\($0).example" }.joined(separator: " ")
        let result = try await Self.withSilentNames("exec timeout 10 $R status \(names)", in: uplink.namespace)
        #expect(result.status == 2)
        #expect(result.lines.count == 9 && result.lines.allSatisfy { $0.hasSuffix("unknown, name not resolved yet") })
    }

    @Test func `not reachable weighs more than unknown`() async throws {
        let uplink = try await Uplink.make()
        try await uplink.ip("route add prohibit 198.51.100.1")
        let script = "exec $R status 127.0.0.1 silent.example 198.51.100.1"
        let result = try await Self.withSilentNames(script, in: uplink.namespace)
        #expect(result.status == 1)
        #expect(result.lines.count == 3)
    }

    @Test func `unknown weighs more than reachable`() async throws {
        let uplink = try await Uplink.make()
        let result = try await Self.withSilentNames("exec $R status silent.example ::1", in: uplink.namespace)
        #expect(result.status == 2)
        #expect(result.lines.count == 2)
    }

    @Test func `a name service out of reach is as far as the link that is missing`() async throws {
        let namespace = try await LabThread.detached { try LabNamespace() }
        let result = try await Self.withSilentNames("exec $R status no.example", in: namespace)
        #expect(result.status == 1)
        #expect(result.output.hasSuffix(" no.example: not reachable, no interface\n"))
    }
}
