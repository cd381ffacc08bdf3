import Glibc
import NetworkLab
import Testing

/// How `reachability retry` ends, and the command with it.
@Suite struct RetryEndTests {
    @Test func `the deadline passes offline`() async throws {
        let uplink = try await Uplink.make(isConnected: false)
        let arguments = ["retry", "--deadline", "15s", "--", "sh", "-c", "exit 6"]
        let result = try await Command.run(arguments, in: uplink.namespace)
        #expect(result.status == 75 && result.output.isEmpty)
        #expect(
            result.errorsWithoutDurations
                == """
                reachability: network: sh: exit status 6 after TIME, attempt 1 of 10, waits until reachable: no route
                reachability: the deadline of 15s passed while the network was not reachable: no route

                """
        )
        let quiet = ["retry", "--quiet", "--target", "203.0.113.9", "--deadline", "1s", "--", "false"]
        try await Command.run(quiet, in: uplink.namespace)
            .expectRefusal("the deadline of 1s passed while 203.0.113.9 was not reachable: no route", status: 75)
    }

    @Test func `the deadline passes before the next attempt: the status of the last`() async throws {
        let arguments = ["retry", "--target", "127.0.0.1", "--deadline", "4s", "--attempts", "1000", "--", "sh", "-c"]
        var result = try await Command.run(arguments + ["exit 3"])
        // On a busy machine the deadline may pass while the command runs, which another test covers.
        while result.errors.contains("told to end") { result = try await Command.run(arguments + ["exit 3"]) }
        #expect(result.status == 3)
        #expect(result.errors.hasSuffix("\nreachability: the deadline of 4s passed before the next attempt\n"))
    }

    @Test(arguments: [
        ([], "sleep 1000 & echo $!; wait", 143, "ended by signal 15"),
        (["--kill-after", "1s"], "trap '' TERM; sleep 1000 & echo $!; wait; wait", 137, "ended by signal 9"),
    ])
    func `the deadline ends what runs, and its children`(
        options: [String],
        script: String,
        status: CInt,
        end: String
    ) async throws {
        let retry = try await start(["--deadline", "10s"] + options, script)
        let child = try #require(pid_t(try await retry.line()))
        let result = try await retry.result()
        #expect(result.status == status)
        #expect(
            result.errorsWithoutDurations
                == "reachability: 127.0.0.1: sh: \(end) after TIME, attempt 1 of 10, told to end: the deadline of 10s has"
                + " passed\n"
        )
        try await expectNobody(child)
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `signals go on to the command as they are, and end it all`(signal: CInt) async throws {
        let scratch = try ScratchDirectory()
        try scratch.makeFifo("fifo")
        // It waits without a child, of whose end the shell would speak.
        let traps = "for s in INT TERM HUP; do trap \"echo $s; exit 7\" $s; done"
        let script = "\(traps); exec 3<>\(scratch.file("fifo")); echo ready; read line <&3"
        let retry = try await start([], script)
        #expect(try await retry.line() == "ready")
        retry.signal(signal)
        let result = try await retry.result()
        let name = [SIGINT: "INT", SIGTERM: "TERM", SIGHUP: "HUP"][signal] ?? ""
        #expect(result.status == 128 + signal)
        #expect(result.output == "ready\n\(name)\n")
        #expect(
            result.errorsWithoutDurations
                == "reachability: 127.0.0.1: sh: exit status 7 after TIME, attempt 1 of 10, told to end\n"
        )
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `signals end a wait`(signal: CInt) async throws {
        let uplink = try await Uplink.make(isConnected: false)
        let retry = try await RunningCommand.start(["retry", "--", "false"], in: uplink.namespace)
        try await retry.untilErrors(contain: "waits until reachable")
        retry.signal(signal)
        let result = try await retry.result()
        #expect(result.status == 128 + signal)
        #expect(result.errors.count { $0 == "\n" } == 1)
    }

    @Test func `a reader that goes away concerns the command alone`() async throws {
        let retry = try await start([], "echo first; while echo more; do :; done")
        #expect(try await retry.line() == "first")
        await retry.closeOutput()
        let result = try await retry.result(reading: false)
        // Ended by a signal: not retried, for the reader will not return.
        #expect(result.status == 128 + SIGPIPE)
    }

    @Test func `nobody's standard input is read, so that each attempt finds the same`() async throws {
        let script = "echo input | $R retry --quiet --target 127.0.0.1 --attempts 2 -- sh -c 'cat; echo end; exit 1'"
        #expect(try await Command.run(script: script) == CommandResult(status: 1, output: "end\nend\n", errors: ""))
    }

    @Test(.enabled(if: Tools.has("script")))
    func `what asks at a terminal fails instead of being stopped`() async throws {
        let command = "$R retry --quiet --target 127.0.0.1 --attempts 1 -- sh -c 'read line </dev/tty || exit 9'"
        let result = try await Command.run(script: "R=$R script -qec \"\(command)\" /dev/null </dev/null")
        #expect(result.status != 0 && result.status != 75)
    }

    private func start(_ options: [String], _ script: String) async throws -> RunningCommand {
        try await RunningCommand.start(["retry", "--target", "127.0.0.1"] + options + ["--", "sh", "-c", script])
    }

    /// Expects a process to be gone, or dead and not yet collected by whoever inherited it.
    private func expectNobody(_ identifier: pid_t) async throws {
        let script = "! grep -q '^State:[[:space:]][^ZX]' /proc/\(identifier)/status 2>/dev/null"
        #expect(try await Command.run(script: script).status == 0, "process \(identifier) is still there")
    }
}
