import Glibc
import NetworkLab
import Testing

/// How the commands end.
@Suite struct EndTests {
    @Test func `a signal at the very beginning ends it too`() async throws {
        for _ in 0..<20 {
            let watch = try await RunningCommand.start(["watch", "127.0.0.1"])
            watch.signal(SIGTERM)
            let status = try await watch.result().status
            #expect(status == 0 || status == -SIGTERM)
        }
    }

    @Test func `a reader that goes away ends watch at once, without a change`() async throws {
        let watch = try await RunningCommand.start(["watch", "127.0.0.1"])
        _ = try await watch.line()
        await watch.closeOutput()
        let result = try await watch.result()
        #expect(result.status == 0)
        #expect(result.errors.isEmpty)
    }

    @Test(arguments: Subcommand.busy, [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
    func `a signal at work does what is documented`(subcommand: Subcommand, signal: CInt) async throws {
        let command = try await RunningCommand.start(subcommand.words + subcommand.manyArguments)
        // At work, and for long enough: it writes to a pipe that nobody reads.
        try await command.untilPipeIsFull()
        command.signal(signal)
        let result = try await command.result(reading: false)
        #expect(result.status == subcommand.status(after: signal))
        #expect(result.errors.isEmpty)
    }

    @Test(arguments: Subcommand.busy)
    func `SIGPIPE is not waited for and not died of`(subcommand: Subcommand) async throws {
        let command = try await RunningCommand.start(subcommand.words + subcommand.manyArguments)
        try await command.untilPipeIsFull()
        await command.closeOutput()
        let result = try await command.result(reading: false)
        #expect(result == CommandResult(status: 0, output: result.output, errors: ""))
    }

    @Test func `every signal with a documented meaning is told of watch`() throws {
        let documented = try CommandDocument().keys("Signals", of: "watch").joined(separator: ", ")
        #expect(documented == "SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGPIPE")
    }

    @Test(arguments: Subcommand.printing)
    func `a reader that was never there is no error`(subcommand: Subcommand) async throws {
        let script = "{ \(subcommand.script); echo $? >&2; } | true"
        for _ in 0..<3 {
            #expect(try await Command.run(script: script).errors == "0\n")
        }
    }

    @Test(arguments: [
        ("status 203.0.113.9", "1"), ("status --json 127.0.0.1 203.0.113.9", "1"), ("why 203.0.113.9", "1"),
        ("why --json 203.0.113.9", "1"), ("wait --json --timeout 1ms 203.0.113.9 2>&-", "75"),
    ])
    func `the verdict is kept when nobody reads it`(arguments: String, status: String) async throws {
        let namespace = try await LabThread.detached { try LabNamespace() }
        for reader in ["true", "head -n 1"] {
            let script = "{ $R \(arguments); echo $? >&2; } | \(reader)"
            #expect(try await Command.run(script: script, in: namespace).errors == "\(status)\n")
        }
    }

    @Test func `a fifo that is open at both ends stays`() async throws {
        // As shells open it: the writer reads as well, so its own lines can be read from it.
        let script = """
            d=$(mktemp -d) && mkfifo $d/f && exec 3<>$d/f && rm -r $d
            $R watch 127.0.0.1 >&3 & pid=$!
            read -r line <&3; echo "$line"; kill -TERM $pid; wait $pid; echo $?
            """
        let result = try await Command.run(script: script)
        #expect(result.lines.last == "0")
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
    func `standard output that is full or closed is an error`(
        script: String,
        output: (place: String, cause: String)
    ) async throws {
        try await Command.run(script: "exec \(script) >\(output.place)")
            .expectRefusal("cannot write to standard output: \(output.cause)", status: 74)
    }

    @Test func `closed standard input and error do not matter`() async throws {
        let result = try await Command.run(script: "exec $R status 127.0.0.1 <&- 2>&-")
        #expect(result.status == 0)
        #expect(result.lines.count == 1)
        #expect(try await Command.run(script: "exec $R status x:1 <&- 2>&-").status == 64)
    }
}
