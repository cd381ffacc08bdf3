import Glibc
import NetworkLab
import Testing

/// `reachability watch --file`: the hosts of a file, and SIGHUP.
@Suite struct FileTests {
    /// Returns the hosts of the next `count` lines.
    private static func heard(_ count: Int, of watch: RunningCommand) async throws -> [String] {
        var hosts: [String] = []
        for _ in 0..<count {
            let words = try await watch.line().split(separator: " ")
            hosts.append(String(words[1].dropLast()))
        }
        return hosts
    }

    /// More hosts than are queried in one batch.
    @Test func `the first lines have the order of the command line and then of the file`() async throws {
        let uplink = try await Uplink.make()
        let hosts = (0..<700).map { "10.\($0 * 37 % 251).\($0 * 59 % 241).7" }
        let file = try HostsFile(hosts + ["2001:db8:9::9", hosts[3]])
        let watch = try await RunningCommand.start(
            ["watch", "--file", file.path, "198.51.100.9", "192.0.2.7"],
            in: uplink.namespace
        )
        #expect(try await Self.heard(703, of: watch) == ["198.51.100.9", "192.0.2.7"] + hosts + ["2001:db8:9::9"])
        // Hosts that are added later follow in their order.
        try file.write("192.0.2.9\n" + hosts.reversed().map { $0 + "\n" }.joined() + "192.0.2.8\n")
        watch.signal(SIGHUP)
        #expect(try await Self.heard(2, of: watch) == ["192.0.2.9", "192.0.2.8"])
    }

    @Test func `--strict reports all bad lines and refuses the file`() async throws {
        let uplink = try await Uplink.make()
        let file = try HostsFile("192.0.2.7\nx:1\n\na b\nfe80::1\n")
        let result = try await Command.run(["watch", "--strict", "--file", file.path], in: uplink.namespace)
        #expect(result.status == 65)
        #expect(result.output.isEmpty)
        #expect(
            result.errors.split(separator: "\n").map { $0.split(separator: ":")[2] } == ["2", "4", "5"],
            "\(result.errors)"
        )
        try file.write("192.0.2.7\n# fine\n")
        let watch = try await RunningCommand.start(["watch", "--strict", "--file", file.path], in: uplink.namespace)
        #expect(try await Self.heard(1, of: watch) == ["192.0.2.7"])
        // No host of a file with a bad line is watched.
        try file.write("192.0.2.8\nx:1\n")
        watch.signal(SIGHUP)
        try await waitUntil { await watch.errors.contains("\(file.path):2: \"x:1\"") }
        try file.write("192.0.2.7\n192.0.2.9\n")
        watch.signal(SIGHUP)
        #expect(try await Self.heard(1, of: watch) == ["192.0.2.9"])
        #expect(try await watch.result(after: SIGTERM).lines.count == 2)
    }

    @Test func `a missing file and a closed standard input are refused`() async throws {
        try await Command.run(["watch", "--file", "/nowhere/hosts"])
            .expectRefusal("cannot read the hosts in /nowhere/hosts: No such file or directory", status: 66)
        try await Command.run(script: "exec $R watch --file - <&-")
            .expectRefusal("cannot read the hosts in standard input: Bad file descriptor", status: 66)
    }

    @Test func `standard input is read only once`() async throws {
        let watch = try await RunningCommand.start(script: "exec $R watch --file - <<E\n127.0.0.1\nx:1\n::1\nE")
        #expect(try await Set(Self.heard(2, of: watch)) == ["127.0.0.1", "::1"])
        watch.signal(SIGHUP)
        try await waitUntil { await watch.errors.contains("cannot read standard input again") }
        let result = try await watch.result(after: SIGTERM)
        #expect(result.status == 0)
        #expect(result.lines.count == 2)
        #expect(result.errors.hasPrefix("reachability: standard input:2: \"x:1\" is neither"))
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `a signal ends the command while a user types hosts`(signal: CInt) async throws {
        // The script is a reader and a writer of the fifo, so the input never ends.
        let watch = try await RunningCommand.start(
            script: "d=$(mktemp -d) && mkfifo $d/f && exec <>$d/f && rm -r $d && exec $R watch --file -"
        )
        // Waits until the command reads standard input: read(2) of descriptor 0, on x86-64 and other architectures.
        try await waitUntil {
            let call = (try? LabProcess("cat", ["/proc/\(watch.identifier)/syscall"]).wait().output) ?? ""
            let isOurs = try LabProcess("cat", ["/proc/\(watch.identifier)/comm"]).wait().output == "reachability\n"
            return isOurs && (call.hasPrefix("0 0x0 ") || call.hasPrefix("63 0x0 "))
        }
        #expect(try await watch.result(after: signal).status == -signal)
    }

    @Test func `a file without hosts is watched and reported`() async throws {
        let file = try HostsFile("# nobody\n\n")
        let watch = try await RunningCommand.start(["watch", "--file", file.path])
        let sentence = "reachability: \(file.path) has no hosts; watching 0 hosts\n"
        try await watch.untilErrors(contain: sentence)
        try file.write("127.0.0.1\n")
        watch.signal(SIGHUP)
        #expect(try await Self.heard(1, of: watch) == ["127.0.0.1"])
        #expect(try await watch.result(after: SIGTERM).errors == sentence)
    }

    /// Returns the lines of a watch by host, without their times.
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
        // If the file is missing or unreadable, the hosts stay the same.
        file.remove()
        watch.signal(SIGHUP)
        let sentence = "reachability: cannot read the hosts in \(file.path): No such file or directory\n"
        try await waitUntil { await watch.errors == sentence }
        try await uplink.setConnected(false)
        for _ in 0..<3 { _ = try await watch.line() }
        // The hosts of the command line stay.
        try file.write("# none\n")
        watch.signal(SIGHUP)
        try file.write("")
        try await uplink.ip("route add default via 192.0.2.1")
        #expect(try await watch.status(of: "203.0.113.1").hasPrefix("reachable"))
        let result = try await watch.result(after: SIGTERM)
        let histories = Self.histories(result.lines)
        #expect(result.status == 0)
        #expect(histories["198.51.100.1"] == ["reachable "])
        #expect(histories["198.51.100.3"]?.prefix(2) == ["reachable ", "not reachable"])
        #expect(histories["203.0.113.1"] == ["reachable ", "not reachable", "reachable "])
        #expect(histories["198.51.100.2"]?.prefix(2) == ["reachable ", "not reachable"])
        #expect(histories.count == 4)
    }
}
