import NetworkLab
import Testing

/// `reachability status`: one line per host, and an exit status for scripts.
@Suite struct StatusTests {
    @Test func `exit status 0 is reachable, and 1 is not reachable`() async throws {
        let uplink = try await Uplink.make()
        let result = try await Command.run(["status"], in: uplink.namespace)
        let way = "interface u0, gateway 192.0.2.1, source 192.0.2.2, over IPv4 and IPv6"
        #expect(result.status == 0 && result.errors.isEmpty && result.lines.count == 1)
        #expect(result.output.hasSuffix("Z network: reachable (ethernet or Wi-Fi), \(way)\n"))
        #expect(result.output.prefixMatch(of: #/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{3}Z /#) != nil)
        // With several hosts, one that is not reachable decides. Lines follow the order of the arguments, and hosts may repeat.
        try await uplink.ip("route add prohibit 198.51.100.1")
        for (hosts, status) in [
            (["203.0.113.9", "localhost", "::1", "2001:db8:9::9", "203.0.113.9"], 0),
            (["203.0.113.9", "198.51.100.1"], 1),
            (["198.51.100.1", "203.0.113.9"], 1),
        ] {
            let several = try await Command.run(["status"] + hosts, in: uplink.namespace)
            #expect(several.status == CInt(status))
            #expect(several.lines.map { $0.split(separator: " ")[1].dropLast() }.map(String.init) == hosts)
        }
        try await uplink.setConnected(false)
        let lost = try await Command.run(["status"], in: uplink.namespace)
        #expect(
            lost.status == 1 && lost.errors.isEmpty && lost.output.hasSuffix("Z network: not reachable, no route\n")
        )
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
        try file.write("x:1\n127.0.0.1\na b\n")
        let bad = try await Command.run(["status", "--file", file.path])
        #expect(bad.status == 65 && bad.output.isEmpty)
        #expect(bad.errors.split(separator: "\n").map { $0.split(separator: ":")[2] } == ["1", "3"])
        try file.write("# nobody\n")
        try await Command.run(["status", "--file", file.path]).expectRefusal(
            "cannot use \(file.path): it has no hosts",
            status: 65
        )
        try await Command.run(["status", "--file", "/nowhere"])
            .expectRefusal("cannot read the hosts in /nowhere: No such file or directory", status: 66)
    }

    /// Runs a script with a name service that never answers: queries are sent over the uplink, and no server exists
    /// there.
    private static func withSilentNames(_ script: String, in namespace: LabNamespace) async throws -> CommandResult {
        let files = """
            d=$(mktemp -d) && echo nameserver 192.0.2.53 > $d/resolv && echo hosts: files dns > $d/switch &&
            mount --bind $d/resolv /etc/resolv.conf && mount --bind $d/switch /etc/nsswitch.conf && rm -r $d;
            """
        return try await Command.run(script: "unshare --mount sh -c '\(files) \(script)'", in: namespace)
    }

    /// The address that connections use first, regardless of the order in the file.
    @Test func `a name of both families in a hosts file uses the first address of getaddrinfo`() async throws {
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

    @Test func `exit status 2 is unknown, and not reachable has priority`() async throws {
        let uplink = try await Uplink.make()
        try await uplink.ip("route add prohibit 198.51.100.1")
        for (hosts, status) in [
            ("silent.example", 2), ("silent.example ::1", 2), ("127.0.0.1 silent.example 198.51.100.1", 1),
        ] {
            let result = try await Self.withSilentNames("exec $R status \(hosts)", in: uplink.namespace)
            #expect(result.status == CInt(status) && result.errors.isEmpty, "\(result)")
            #expect(result.output.contains(" silent.example: unknown, name not resolved yet\n"), "\(result)")
        }
        let namespace = try await LabThread.detached { try LabNamespace() }
        let away = try await Self.withSilentNames("exec $R status no.example", in: namespace)
        #expect(away.status == 1 && away.output.hasSuffix(" no.example: not reachable, no interface\n"), "\(away)")
    }

    /// Each name alone takes two seconds. In sequence they would exceed the time limit.
    @Test func `silent names are resolved in parallel`() async throws {
        let uplink = try await Uplink.make()
        let names = (1...100).map { "silent\($0).example" }.joined(separator: " ")
        let result = try await Self.withSilentNames("exec $R status \(names)", in: uplink.namespace)
        #expect(result.status == 2 && result.lines.count == 100)
    }
}

/// `--interface`, `--over`, `-4` and `-6`: the answer is about packets with this binding.
@Suite struct InterfaceTests {
    @Test func `an interface and a family restrict the answer`() async throws {
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
}

/// Names in other scripts. They are encoded for the name service, and printed as given.
@Suite struct InternationalNameTests {
    private static let encoded = "xn--bcher-kva.example"

    @Test func `a name server receives the encoded name`() async throws {
        let world = try await NameWorld.make()
        let server = try await world.serve(.portal("203.0.113.9"))
        let status = try await world.run("status bücher.example")
        #expect(status.status == 0, "\(status)")
        #expect(status.output.contains(" bücher.example: reachable"), "\(status)")
        #expect(try await world.run("wait BÜCHER。example --timeout 30s").status == 0)
        #expect(try await world.run("wait --dns bücher.example --timeout 30s").status == 0)
        #expect(Set(server.questions.map(\.name)) == [Self.encoded])
        let watch = try await world.start("watch bücher.example")
        while try await !watch.status(of: "bücher.example").hasPrefix("reachable") {}
        watch.signal(15)
        let why = try await world.run("why bücher.example")
        #expect(why.status == 0 && why.output.contains("192.0.2.53 over u0: "), "\(why)")
        #expect(Set(server.questions.map(\.name)) == [Self.encoded])
    }
}
