import Foundation
import NetworkLab
import Testing

/// Where lines go, and what they look like there.
@Suite struct OutputTests {
    @Test func `each line is in the file before the next is made`() async throws {
        let uplink = try await Uplink.make()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        let watch = try await RunningCommand.start(script: "exec $R watch > \(file.path)", in: uplink.namespace)
        func lines() -> [Substring] {
            let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
            return text.hasSuffix("\n") ? text.split(separator: "\n") : []
        }
        #expect(try await eventually(within: .seconds(90)) { lines().count == 1 })
        try await uplink.setConnected(false)
        #expect(try await eventually(within: .seconds(90)) { lines().count == 2 })
        #expect(lines().last?.hasSuffix("network: not reachable, no route") == true)
        watch.signal(SIGTERM)
        #expect(try await watch.result().status == 0)
    }

    @Test(.enabled(if: Tools.has("perl")), arguments: ["status", "watch"])
    func `a full pipe that does not block loses and cuts nothing`(subcommand: String) async throws {
        let script = """
            exec perl -MFcntl -e 'fcntl(STDOUT, F_SETFL, O_WRONLY | O_NONBLOCK) or die; exec @ARGV or die' \
            "$R" \(subcommand) --json \(ManyHosts.all.joined(separator: " "))
            """
        let command = try await RunningCommand.start(script: script)
        try await command.untilPipeIsFull()
        var targets: [String?] = []
        for _ in ManyHosts.all {
            targets.append(try JSONLine(try await command.line())["target"])
        }
        #expect(Set(targets) == Set(ManyHosts.all))
        command.signal(SIGTERM)
        let status = try await command.result().status
        #expect(status == 0 || subcommand == "status" && status == -SIGTERM)
        #expect(await command.restOfLines().isEmpty)
    }

    @Test(
        .enabled(if: Tools.has("script")),
        arguments: [
            ("", "", true), ("NO_COLOR=1", "", false), ("NO_COLOR=", "", true), ("NO_COLOR=0", "", false),
            ("TERM=dumb", "", false), ("TERM=", "", true), ("TERM=dumb NO_COLOR=", "", false), ("", "--json", false),
            ("", "| cat", false),
        ]
    )
    func `colours are for terminals`(environment: String, option: String, isColoured: Bool) async throws {
        let uplink = try await Uplink.make()
        try await uplink.ip("route add prohibit 198.51.100.1")
        let command = "$R status 203.0.113.9 198.51.100.1 \(option)"
        let result = try await Command.run(
            script: "R=$R TERM=xterm \(environment) script -qec '\(command)' /dev/null < /dev/null",
            in: uplink.namespace
        )
        #expect(result.output.count { $0.isNewline } == 2)
        #expect(result.output.contains("\u{1b}") == isColoured)
        if isColoured {
            #expect(result.output.contains(" 203.0.113.9: \u{1b}[32mreachable (ethernet or Wi-Fi)\u{1b}[0m, interface"))
            #expect(result.output.contains(" 198.51.100.1: \u{1b}[31mnot reachable\u{1b}[0m, prohibited by"))
        }
    }

    @Test func `without a terminal there are no colours`() async throws {
        let result = try await Command.run(["status", "127.0.0.1"])
        #expect(!result.output.contains("\u{1b}"))
    }

    @Test func `many hosts in one run share their descriptors`() async throws {
        let watch = try await RunningCommand.start(["watch"] + ManyHosts.all)
        for _ in ManyHosts.all { _ = try await watch.line() }
        #expect(try Self.netlinkSockets(of: watch.identifier).count == 2)
        let status = try String(contentsOfFile: "/proc/\(watch.identifier)/status", encoding: .utf8)
        let threads = try #require(status.firstMatch(of: #/Threads:\s+(\d+)/#)).1
        #expect((Int(threads) ?? .max) < 12, "\(threads) threads")
    }

    /// Not all sockets: a process begins with those that whoever starts it happens to leave open.
    private static func netlinkSockets(of process: pid_t) throws -> Set<UInt64> {
        let directory = "/proc/\(process)/fd/"
        let names = try FileManager.default.contentsOfDirectory(atPath: directory)
        let files = names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: directory + $0) }
        let inodes = Set(files.compactMap { $0.wholeMatch(of: #/socket:\[(\d+)\]/#)?.1 }.compactMap { UInt64($0) })
        let table = try String(contentsOfFile: "/proc/\(process)/net/netlink", encoding: .utf8)
        return inodes.intersection(ListedSocket.all(listedIn: table).map(\.inode))
    }
}
