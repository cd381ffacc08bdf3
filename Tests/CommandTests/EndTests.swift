import Foundation
import Glibc
import NetworkLab
import TestSupport
import Testing

/// The ends of the commands: signals, closed pipes and failing output.
@Suite struct EndTests {
    @Test func `a signal during startup ends the command`() async throws {
        for _ in 0..<20 {
            let watch = try await RunningCommand.start(["watch", "127.0.0.1"])
            let status = try await watch.result(after: SIGTERM).status
            #expect(status == 0 || status == -SIGTERM)
        }
    }

    @Test func `watch ends when its reader leaves, without waiting for a change`() async throws {
        let watch = try await RunningCommand.start(["watch", "127.0.0.1"])
        _ = try await watch.line()
        await watch.closeOutput()
        let result = try await watch.result()
        #expect(result.status == 0)
        #expect(result.errors.isEmpty)
    }

    @Test(arguments: Subcommand.busy, [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
    func `a signal during work has the documented effect`(subcommand: Subcommand, signal: CInt) async throws {
        let command = try await RunningCommand.start(subcommand.words + subcommand.manyArguments)
        // The command works long enough because its pipe is full and has no reader.
        try await command.untilPipeIsFull()
        let result = try await command.result(after: signal, reading: false)
        #expect(result.status == subcommand.status(after: signal))
        #expect(result.errors.isEmpty)
    }

    @Test(arguments: Subcommand.busy)
    func `a closed pipe ends no command by SIGPIPE`(subcommand: Subcommand) async throws {
        let command = try await RunningCommand.start(subcommand.words + subcommand.manyArguments)
        try await command.untilPipeIsFull()
        await command.closeOutput()
        let result = try await command.result(reading: false)
        #expect(result == CommandResult(status: 0, output: result.output, errors: ""))
    }

    @Test func `the documentation lists each signal that watch handles`() throws {
        let documented = try CommandDocument().keys("Signals", of: "watch").joined(separator: ", ")
        #expect(documented == "SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGPIPE")
    }

    @Test(arguments: Subcommand.printing)
    func `a reader that leaves before the first line is not an error`(subcommand: Subcommand) async throws {
        let script = "{ \(subcommand.script); echo $? >&2; } | true"
        for _ in 0..<3 {
            #expect(try await Command.run(script: script).errors == "0\n")
        }
    }

    @Test(arguments: [
        ("status 203.0.113.9", "1"), ("status --json 127.0.0.1 203.0.113.9", "1"), ("why 203.0.113.9", "1"),
        ("why --json 203.0.113.9", "1"), ("wait --json --timeout 1ms 203.0.113.9 2>&-", "75"),
    ])
    func `the exit status shows the verdict even if the reader leaves`(arguments: String, status: String) async throws {
        let namespace = try await LabThread.detached { try LabNamespace() }
        for reader in ["true", "head -n 1"] {
            let script = "{ $R \(arguments); echo $? >&2; } | \(reader)"
            #expect(try await Command.run(script: script, in: namespace).errors == "\(status)\n")
        }
    }

    @Test func `watch continues on a fifo that it can also read`() async throws {
        // As shells open a fifo: the writer is also a reader.
        let script = """
            d=$(mktemp -d) && mkfifo $d/f && exec 3<>$d/f && rm -r $d
            $R watch 127.0.0.1 >&3 & pid=$!
            read -r line <&3; echo "$line"; kill -TERM $pid; wait $pid; echo $?
            """
        #expect(try await Command.run(script: script).lines.last == "0")
        let stays = """
            d=$(mktemp -d) && mkfifo $d/f && exec 3<>$d/f && rm -r $d
            ip link set lo up; $R watch 192.0.2.9 >&3 & pid=$!
            read -r line <&3; echo "$line"
            ip addr add 192.0.2.9/32 dev lo; read -r line <&3; echo "$line"
            kill -TERM $pid; wait $pid; echo $?
            """
        let namespace = try await LabThread.detached { try LabNamespace() }
        let second = try await Command.run(script: stays, in: namespace)
        #expect(second.lines.count == 3)
        #expect(second.lines.dropFirst().first?.contains("reachable (") == true)
        #expect(second.lines.last == "0")
    }

    @Test(
        arguments: Subcommand.printing.map(\.script) + ["$R --help", "$R --version", "$R help watch", "$R"],
        [("/dev/full", "No space left on device"), ("&-", "Bad file descriptor")]
    )
    func `a full or closed standard output is an error`(
        script: String,
        output: (place: String, cause: String)
    ) async throws {
        try await Command.run(script: "exec \(script) >\(output.place)")
            .expectRefusal("cannot write to standard output: \(output.cause)", status: 74)
    }

    @Test func `closed standard input and standard error have no effect`() async throws {
        let result = try await Command.run(script: "exec $R status 127.0.0.1 <&- 2>&-")
        #expect(result.status == 0)
        #expect(result.lines.count == 1)
        #expect(try await Command.run(script: "exec $R status x:1 <&- 2>&-").status == 64)
    }
}

/// The order, completeness and colours of output lines.
@Suite struct OutputTests {
    @Test func `each line is in the file before the next line is written`() async throws {
        let uplink = try await Uplink.make()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        let watch = try await RunningCommand.start(script: "exec $R watch > \(file.path)", in: uplink.namespace)
        func lines() -> [Substring] {
            let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
            return text.hasSuffix("\n") ? text.split(separator: "\n") : []
        }
        try await waitUntil { lines().count == 1 }
        try await uplink.setConnected(false)
        try await waitUntil { lines().count == 2 }
        #expect(lines().last?.hasSuffix("network: not reachable, no route") == true)
        #expect(try await watch.result(after: SIGTERM).status == 0)
    }

    @Test(.enabled(if: Tools.has("perl")), arguments: ["status", "watch"])
    func `a full non-blocking pipe loses and truncates no line`(subcommand: String) async throws {
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
        let status = try await command.result(after: SIGTERM).status
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
    func `colours are used only on terminals`(environment: String, option: String, isColoured: Bool) async throws {
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

/// Programs of this package, and programs with its library, write nothing to the system log. Dispatch would write to it.
@Suite struct SystemLogTests {
    private static let unprivileged = "setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all"

    @Test(.enabled(if: Tools.has("setpriv") && Tools.hasOtherUsers), arguments: [unprivileged, ""])
    func `watch writes nothing to the system log`(prefix: String) async throws {
        let (uplink, log) = (try await Uplink.make(), try SystemLog())
        let watch = try await RunningCommand.start(
            script: log.script(running: "\(prefix) $R watch 203.0.113.9"),
            in: uplink.namespace
        )
        _ = try await watch.status(of: "203.0.113.9")
        // All threads of Dispatch have started by now.
        try await uplink.setConnected(false)
        _ = try await watch.status(of: "203.0.113.9")
        #expect(try await watch.result(after: SIGTERM).errors.isEmpty)
        #expect(log.messages.isEmpty)
    }

    /// Only messages about the library's own errors count. The documentation describes the messages of Dispatch about threads.
    @Test func `a daemon with the library causes no messages of Dispatch in the system log`() async throws {
        let uplink = try await Uplink.make()
        let program = BuiltProgram.path("EmbeddingProgram")
        let daemon = try await RunningCommand.start(
            script: "LIBDISPATCH_LOG=stderr exec \(program)",
            in: uplink.namespace
        )
        #expect(try await daemon.line() == "reachable (ethernet or Wi-Fi)")
        try await uplink.setConnected(false)
        #expect(try await daemon.line() == "not reachable")
        let errors = try await daemon.result(after: SIGTERM).errors
        #expect(!errors.contains("DEPRECATED") && !errors.contains("handler"), "\(errors)")
    }
}
