import Glibc
import NetworkLab
import Testing

/// `reachability watch --file`: the hosts of a file, also when SIGHUP has it read again.
@Suite struct FileTests {
    private static let text = """
        # Routers
        192.0.2.7   # the first

        \t198.51.100.1\t
        192.0.2.7
        x:1
          #nothing
        a b
        2001:db8:9::9#no blank
        fe80::1
        """
    private static let hosts: Set<String> = ["192.0.2.7", "198.51.100.1", "2001:db8:9::9"]

    /// The hosts of the next so many lines.
    private static func heard(_ count: Int, of watch: RunningCommand) async throws -> [String] {
        var hosts: [String] = []
        for _ in 0..<count {
            let words = try await watch.line().split(separator: " ")
            hosts.append(String(words[1].dropLast()))
        }
        return hosts
    }

    @Test func `bad lines are named, the others watched`() async throws {
        let uplink = try await Uplink.make()
        let file = try HostsFile(Self.text)
        let watch = try await RunningCommand.start(["watch", "--file", file.path], in: uplink.namespace)
        #expect(try await Set(Self.heard(3, of: watch)) == Self.hosts)
        try await uplink.setConnected(false)
        #expect(try await Set(Self.heard(2, of: watch)) == ["198.51.100.1", "2001:db8:9::9"])
        watch.signal(SIGTERM)
        let result = try await watch.result()
        #expect(result.status == 0)
        #expect(result.lines.count == 5)
        let errors = result.errors.split(separator: "\n")
        let starts = [6: "\"x:1\" is neither", 8: "\"a b\" is neither", 10: "fe80::1 is link-local"]
        #expect(errors.count == starts.count)
        for (error, (number, reason)) in zip(errors, starts.sorted { $0.key < $1.key }) {
            #expect(error.hasPrefix("reachability: \(file.path):\(number): \(reason)"))
        }
    }

    /// More than are looked at in one go.
    @Test func `the first lines stand in the order of the file, after the hosts of the command line`() async throws {
        let uplink = try await Uplink.make()
        let hosts = (0..<700).map { "10.\($0 * 37 % 251).\($0 * 59 % 241).7" }
        let file = try HostsFile(hosts + ["2001:db8:9::9", hosts[3]])
        let watch = try await RunningCommand.start(
            ["watch", "--file", file.path, "198.51.100.9", "192.0.2.7"],
            in: uplink.namespace
        )
        #expect(
            try await Self.heard(703, of: watch) == ["198.51.100.9", "192.0.2.7"] + hosts + ["2001:db8:9::9"]
        )
        // Those that come later do so after them, in their order.
        try file.write("192.0.2.9\n" + hosts.reversed().map { $0 + "\n" }.joined() + "192.0.2.8\n")
        watch.signal(SIGHUP)
        #expect(try await Self.heard(2, of: watch) == ["192.0.2.9", "192.0.2.8"])
    }

    @Test func `--strict refuses a file with bad lines, and names all`() async throws {
        let uplink = try await Uplink.make()
        let file = try HostsFile(Self.text)
        let result = try await Command.run(["watch", "--strict", "--file", file.path], in: uplink.namespace)
        #expect(result.status == 65)
        #expect(result.output.isEmpty)
        #expect(
            result.errors.split(separator: "\n").map { $0.split(separator: ":")[2] } == ["6", "8", "10"],
            "\(result.errors)"
        )
        try file.write("192.0.2.7\n# fine\n")
        let watch = try await RunningCommand.start(["watch", "--strict", "--file", file.path], in: uplink.namespace)
        #expect(try await Self.heard(1, of: watch) == ["192.0.2.7"])
        // Nothing of a bad file is taken.
        try file.write("192.0.2.8\nx:1\n")
        watch.signal(SIGHUP)
        #expect(try await eventually { await watch.errors.contains("\(file.path):2: \"x:1\"") })
        try file.write("192.0.2.7\n192.0.2.9\n")
        watch.signal(SIGHUP)
        #expect(try await Self.heard(1, of: watch) == ["192.0.2.9"])
        watch.signal(SIGTERM)
        #expect(try await watch.result().lines.count == 2)
    }

    @Test func `a file that is missing, and standard input that is closed, are refused`() async throws {
        try await Command.run(["watch", "--file", "/nowhere/hosts"])
            .expectRefusal("cannot read the hosts in /nowhere/hosts: No such file or directory", status: 66)
        try await Command.run(script: "exec $R watch --file - <&-")
            .expectRefusal("cannot read the hosts in standard input: Bad file descriptor", status: 66)
    }

    @Test func `standard input is read once`() async throws {
        let watch = try await RunningCommand.start(script: "exec $R watch --file - <<E\n127.0.0.1\nx:1\n::1\nE")
        #expect(try await Set(Self.heard(2, of: watch)) == ["127.0.0.1", "::1"])
        watch.signal(SIGHUP)
        #expect(try await eventually { await watch.errors.contains("cannot read standard input again") })
        watch.signal(SIGTERM)
        let result = try await watch.result()
        #expect(result.status == 0)
        #expect(result.lines.count == 2)
        #expect(result.errors.hasPrefix("reachability: standard input:2: \"x:1\" is neither"))
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `who is asked to type hosts can leave`(signal: CInt) async throws {
        // A reader and writer of its own, so that it never ends.
        let watch = try await RunningCommand.start(
            script: "d=$(mktemp -d) && mkfifo $d/f && exec <>$d/f && rm -r $d && exec $R watch --file -"
        )
        // Until it reads its standard input: read(2) of descriptor 0, on x86-64 and on others.
        let isReading = try await eventually {
            let call = (try? LabProcess("cat", ["/proc/\(watch.identifier)/syscall"]).wait().output) ?? ""
            let isOurs = try LabProcess("cat", ["/proc/\(watch.identifier)/comm"]).wait().output == "reachability\n"
            return isOurs && (call.hasPrefix("0 0x0 ") || call.hasPrefix("63 0x0 "))
        }
        #expect(isReading)
        watch.signal(signal)
        #expect(try await watch.result().status == -signal)
    }

    @Test func `a file without hosts is watched, and said so`() async throws {
        let file = try HostsFile("# nobody\n\n")
        let watch = try await RunningCommand.start(["watch", "--file", file.path])
        let sentence = "reachability: \(file.path) has no hosts; watching 0 hosts\n"
        try await watch.untilErrors(contain: sentence)
        try file.write("127.0.0.1\n")
        watch.signal(SIGHUP)
        #expect(try await Self.heard(1, of: watch) == ["127.0.0.1"])
        watch.signal(SIGTERM)
        #expect(try await watch.result().errors == sentence)
    }

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
        #expect(try await eventually { await watch.errors == sentence })
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
}
