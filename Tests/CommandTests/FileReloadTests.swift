import Glibc
import NetworkLab
import Testing

/// `reachability watch --file` while it runs: SIGHUP, and very many hosts.
@Suite struct FileReloadTests {
    /// Lines of a watch, by host, each without its time.
    private static func histories(_ lines: some Sequence<some StringProtocol>) -> [String: [String]] {
        var found: [String: [String]] = [:]
        for line in lines {
            let words = line.split(separator: " ", maxSplits: 2)
            found[String(words[1].dropLast()), default: []].append(String(words[2].prefix { $0 != "," && $0 != "(" }))
        }
        return found
    }

    @Test func `SIGHUP adds and removes hosts`() async throws {
        let uplink = try await Uplink.make()
        let file = try HostsFile(["198.51.100.1", "198.51.100.2"])
        let watch = try await RunningCommand.start(
            ["watch", "--file", file.path, "203.0.113.1", "198.51.100.2"],
            in: uplink.namespace
        )
        for _ in 0..<3 { _ = try await watch.line() }
        try file.write("198.51.100.3\n198.51.100.2\n")
        watch.signal(SIGHUP)
        #expect(try await watch.line().contains(" 198.51.100.3: reachable"))
        // A file that is gone, or cannot be read, leaves everything as it is.
        file.remove()
        watch.signal(SIGHUP)
        let sentence = "reachability: cannot read the hosts in \(file.path): No such file or directory\n"
        #expect(try await eventually(within: .seconds(90)) { await watch.errors == sentence })
        try await uplink.setConnected(false)
        for _ in 0..<3 { _ = try await watch.line() }
        // Those given as arguments stay, whatever the file says.
        try file.write("# none\n")
        watch.signal(SIGHUP)
        try file.write("")
        try await uplink.ip("route add default via 192.0.2.1")
        #expect(try await watch.status(of: "203.0.113.1").hasPrefix("reachable"))
        watch.signal(SIGTERM)
        let result = try await watch.result()
        let histories = Self.histories(result.lines)
        #expect(result.status == 0)
        #expect(histories["198.51.100.1"] == ["reachable "])
        #expect(histories["198.51.100.3"]?.prefix(2) == ["reachable ", "not reachable"])
        #expect(histories["203.0.113.1"] == ["reachable ", "not reachable", "reachable "])
        #expect(histories["198.51.100.2"]?.prefix(2) == ["reachable ", "not reachable"])
        #expect(histories.count == 4)
    }

    @Test func `a thousand hosts hear of each change once`() async throws {
        let uplink = try await Uplink.make()
        let hosts = (0..<1000).map { "198.18.\($0 / 250).\($0 % 250)" }
        let file = try HostsFile(hosts)
        let watch = try await RunningCommand.start(["watch", "--file", file.path], in: uplink.namespace)
        for round in 0..<3 {
            for _ in hosts { _ = try await watch.line() }
            // With the link, the reason would change on the way.
            if round == 0 { try await uplink.ip("-4 route del default") }
            if round == 1 { try await uplink.ip("-4 route add default via 192.0.2.1") }
        }
        // And of one route, those it covers.
        try await uplink.ip("route add blackhole 198.18.1.0/26")
        for _ in 0..<64 { #expect(try await watch.line().contains(" 198.18.1.")) }
        watch.signal(SIGTERM)
        let result = try await watch.result()
        #expect(result.lines.count == 3064)
        let expected = ["reachable ", "not reachable", "reachable ", "not reachable"]
        let histories = Self.histories(result.lines)
        #expect(histories.count == 1000)
        #expect(histories.values.allSatisfy { expected.prefix($0.count) == $0[...] && $0.count >= 3 })
    }

    @Test func `--no-filter gives the same answers`() async throws {
        let uplink = try await Uplink.make()
        let hosts = ["192.0.2.7", "198.51.100.1", "203.0.113.1", "2001:db8:9::9", "::1"]
        let file = try HostsFile(hosts)
        var watches: [RunningCommand] = []
        for options in [[], ["--no-filter"]] {
            watches.append(
                try await RunningCommand.start(["watch", "--file", file.path] + options, in: uplink.namespace)
            )
        }
        // Each change concerns the last of its hosts, whose line is waited for.
        let changes = [
            ("route add unreachable 198.51.100.0/24", "198.51.100.1"),
            ("route add prohibit 203.0.113.1", "203.0.113.1"),
            ("route add 10.0.0.0/8 via 192.0.2.3", nil), ("-6 route add blackhole 2001:db8:8::/45", "2001:db8:9::9"),
            ("route del unreachable 198.51.100.0/24", "198.51.100.1"), ("link set u0 down", "192.0.2.7"),
        ]
        for watch in watches { for _ in hosts { _ = try await watch.line() } }
        for (change, host) in changes {
            try await uplink.ip(change)
            for watch in watches { if let host { _ = try await watch.status(of: host) } }
        }
        try await uplink.ip("addr add 203.0.113.1/32 dev lo", "link set lo up")
        var histories: [[String: [String]]] = []
        for watch in watches {
            #expect(try await watch.status(of: "203.0.113.1").hasPrefix("reachable"))
            watch.signal(SIGTERM)
            histories.append(Self.histories(try await watch.result().lines))
        }
        #expect(histories[0] == histories[1])
        #expect(histories[0]["198.51.100.1"] == ["reachable ", "not reachable", "reachable ", "not reachable"])
    }
}
