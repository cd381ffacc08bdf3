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
        #expect(try await eventually { lines().count == 1 })
        try await uplink.setConnected(false)
        #expect(try await eventually { lines().count == 2 })
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
}
