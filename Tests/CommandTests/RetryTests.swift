import Glibc
import NetworkLab
import Testing

/// `reachability retry`: a command is run until it succeeds, and no attempt is made while the network is down.
@Suite struct RetryTests {
    @Test func `no attempt is made without carrier, and the next one follows as soon as carrier returns`() async throws
    {
        let uplink = try await Uplink.make()
        try await uplink.ip("link set far down")
        let script = "echo $REACHABILITY_ATTEMPT $REACHABILITY_STATUS; [ $REACHABILITY_STATUS = reachable ] || exit 6"
        let retry = try await RunningCommand.start(
            ["retry", "203.0.113.9", "--", "sh", "-c", script],
            in: uplink.namespace
        )
        #expect(try await retry.line() == "1 not-reachable")
        try await retry.untilErrors(contain: "waits until reachable: no carrier")
        // Other changes cause no attempt.
        try await uplink.ip("addr add 198.51.100.7/32 dev lo", "link set u0 mtu 1400", "route add 10.0.0.0/8 dev u0")
        try await uplink.ip("link set far up")
        #expect(try await retry.line() == "2 reachable")
        let result = try await retry.result()
        #expect(result.status == 0 && result.lines.count == 2)
        #expect(
            result.errorsWithoutDurations
                == """
                reachability: 203.0.113.9: sh: exit status 6 after TIME, attempt 1 of 10, waits until reachable: no carrier
                reachability: 203.0.113.9: sh: exit status 0 after TIME, attempt 2 of 10

                """
        )
    }

    @Test func `--netns selects the queried namespace, and the command runs in the current one`() async throws {
        let name = try await NamedNamespace.make()
        let result = try await Command.run([
            "retry", "--netns", name.name, "--attempts", "1", "--", "sh", "-c",
            "echo $REACHABILITY_INTERFACE; ip link show u0",
        ])
        #expect(result.status == 1 || result.status == 255)
        #expect(result.lines.first == "u0")
    }
}

/// The end of `reachability retry`, and of its command.
@Suite struct RetryEndTests {
    @Test func `the exit status is 75 if the deadline passes while the network is not reachable`() async throws {
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

    @Test func `a deadline that passes before the next attempt returns the last status`() async throws {
        let arguments = ["retry", "--target", "127.0.0.1", "--deadline", "4s", "--attempts", "1000", "--", "sh", "-c"]
        var result = try await Command.run(arguments + ["exit 3"])
        // On a busy machine the deadline may pass while the command runs, which another test covers.
        while result.errors.contains("stopped:") { result = try await Command.run(arguments + ["exit 3"]) }
        #expect(result.status == 3)
        #expect(result.errors.hasSuffix("\nreachability: the deadline of 4s passed before the next attempt\n"))
    }

    @Test(arguments: [
        ([], "sleep 1000 & echo $!; wait", 143, "ended by signal 15"),
        (["--kill-after", "1s"], "trap '' TERM; sleep 1000 & echo $!; wait; wait", 137, "ended by signal 9"),
    ])
    func `the deadline ends the running command and its children`(
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
                == "reachability: 127.0.0.1: sh: \(end) after TIME, attempt 1 of 10, stopped: the deadline of 10s has"
                + " passed\n"
        )
        try await Command.expectEnd(of: child)
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `a signal is forwarded to the command and ends retry`(signal: CInt) async throws {
        let scratch = ScratchDirectory()
        try scratch.makeFifo("fifo")
        // The command waits without a child, because the shell would print a message about the end of a child.
        let traps = "for s in INT TERM HUP; do trap \"echo $s; exit 7\" $s; done"
        let script = "\(traps); exec 3<>\(scratch.file("fifo")); echo ready; read line <&3"
        let retry = try await start([], script)
        #expect(try await retry.line() == "ready")
        let result = try await retry.result(after: signal)
        let name = [SIGINT: "INT", SIGTERM: "TERM", SIGHUP: "HUP"][signal] ?? ""
        #expect(result.status == 128 + signal)
        #expect(result.output == "ready\n\(name)\n")
        #expect(
            result.errorsWithoutDurations
                == "reachability: 127.0.0.1: sh: exit status 7 after TIME, attempt 1 of 10, stopped by a signal\n"
        )
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `a signal ends a wait`(signal: CInt) async throws {
        let uplink = try await Uplink.make(isConnected: false)
        let retry = try await RunningCommand.start(["retry", "--", "false"], in: uplink.namespace)
        try await retry.untilErrors(contain: "waits until reachable")
        let result = try await retry.result(after: signal)
        #expect(result.status == 128 + signal)
        #expect(result.errors.count { $0 == "\n" } == 1)
    }

    @Test func `closing the output ends the command but not retry`() async throws {
        let retry = try await start([], "echo first; while echo more; do :; done")
        #expect(try await retry.line() == "first")
        await retry.closeOutput()
        let result = try await retry.result(reading: false)
        // The command was ended by a signal and is not retried, because the reader does not return.
        #expect(result.status == 128 + SIGPIPE)
    }

    @Test func `the command gets an empty standard input, so that each attempt has the same`() async throws {
        let script = "echo input | $R retry --quiet --target 127.0.0.1 --attempts 2 -- sh -c 'cat; echo end; exit 1'"
        #expect(try await Command.run(script: script) == CommandResult(status: 1, output: "end\nend\n", errors: ""))
    }

    @Test(.enabled(if: Tools.has("script")))
    func `a command that reads from the terminal fails instead of being stopped`() async throws {
        let command = "$R retry --quiet --target 127.0.0.1 --attempts 1 -- sh -c 'read line </dev/tty || exit 9'"
        let result = try await Command.run(script: "R=$R script -qec \"\(command)\" /dev/null </dev/null")
        #expect(result.status != 0 && result.status != 75)
    }

    private func start(_ options: [String], _ script: String) async throws -> RunningCommand {
        try await RunningCommand.start(["retry", "--target", "127.0.0.1"] + options + ["--", "sh", "-c", script])
    }
}

/// Commands that cannot be started, and options that are refused.
@Suite struct RetryFailureTests {
    @Test(arguments: [[], ["--quiet"], ["--on-exit", "1-255"]])
    func `a command that cannot be started is not retried`(options: [String]) async throws {
        let scratch = ScratchDirectory()
        try scratch.write("text", "", mode: 0o644)
        for (command, status, why) in [
            ("no-such-command", CInt(127), "there is no such command in PATH"),
            (scratch.file("text"), 126, "Permission denied"),
        ] {
            let result = try await Command.run(["retry", "--target", "127.0.0.1"] + options + ["--", command])
            #expect(result.status == status && result.output.isEmpty)
            #expect(
                result.errorsWithoutDurations
                    == "reachability: 127.0.0.1: \(command): exit status \(status) after TIME, not started: \(why),"
                    + " attempt 1 of 10, not retried\n"
            )
        }
    }

    @Test func `options that allow no attempt are refused, and the longest deadline is accepted`() async throws {
        try await Command.run(["retry", "--attempts", "0", "--", "true"])
            .expectRefusal("--attempts takes at least 1, not 0")
        try await Command.run(["retry", "--deadline", "36501d", "--", "true"])
            .expectRefusal("\"36501d\" is too long; the maximum duration is 36500d")
        try await Command.run(["retry", "--deadline", "0s", "--", "true"])
            .expectRefusal("--deadline takes more than 0, not 0s")
        let limits = ["--deadline", "36500d", "--attempts", "2"]
        let arguments = ["retry", "--quiet", "--target", "127.0.0.1"] + limits
        #expect(try await Command.run(arguments + ["--", "sh", "-c", "exit 4"]).status == 4)
    }
}
