import Glibc
import NetworkLab
import Testing

/// `reachability run`: a command at each change, with the state in its environment.
@Suite struct RunTests {
    /// Prints the current and the previous state.
    private static let tell = #"echo "${REACHABILITY_TARGET:-network}: $REACHABILITY_PREVIOUS > $REACHABILITY_STATUS""#

    @Test func `a command runs at each change, its output is passed on, and its end is logged`() async throws {
        let uplink = try await Uplink.make()
        let run = try await RunningCommand.start(
            ["run", "--initial", "--", "sh", "-c", Self.tell + "; echo said >&2; exit 3", "x"],
            in: uplink.namespace
        )
        #expect(try await run.line() == "network:  > reachable")
        try await uplink.setConnected(false)
        #expect(try await run.line() == "network: reachable > not-reachable")
        try await uplink.setConnected(true)
        #expect(try await run.line() == "network: not-reachable > reachable")
        try await run.untilErrors(contain: "exit status", times: 3)
        let result = try await run.result(after: SIGTERM)
        #expect(result.status == 0)
        #expect(result.lines.count == 3)
        #expect(
            result.errorsWithoutDurations
                == String(repeating: "said\nreachability: network: sh: exit status 3 after TIME\n", count: 3)
        )
    }

    @Test func `without --initial the first state runs no command`() async throws {
        let uplink = try await Uplink.make()
        // A host that is given twice is one target.
        let run = try await start(["--host", "203.0.113.9", "--host", "203.0.113.9"], in: uplink)
        try await uplink.setConnected(false)
        #expect(try await run.line() == "203.0.113.9: reachable > not-reachable")
        try await end(run, lines: 1)
    }

    @Test func `--on selects the changes`() async throws {
        let uplink = try await Uplink.make()
        let run = try await start(["--on", "not-reachable"], in: uplink)
        for ignored in 2...3 {
            try await uplink.setConnected(false)
            #expect(try await run.line() == "network: reachable > not-reachable")
            // The option excludes this change.
            try await uplink.setConnected(true)
            try await run.untilErrors(contain: "nothing to run", times: ignored)
        }
        try await end(run, lines: 2)
    }

    @Test func `only the newest state is used after a long run`() async throws {
        let (uplink, scratch) = (try await Uplink.make(), ScratchDirectory())
        try scratch.makeFifo("fifo")
        // The second target shows the progress. It is never delayed.
        let script =
            Self.tell + "; if [ $REACHABILITY_TARGET = 203.0.113.1 ]; then read line < \(scratch.path)/fifo; fi"
        let run = try await RunningCommand.start(
            ["run", "--initial", "203.0.113.1", "--host", "203.0.113.2", "--", "sh", "-c", script],
            in: uplink.namespace
        )
        let first = [try await run.line(), try await run.line()].sorted()
        #expect(first == ["203.0.113.1:  > reachable", "203.0.113.2:  > reachable"])
        for isConnected in [false, true, false] {
            try await uplink.setConnected(isConnected)
            let change = isConnected ? "not-reachable > reachable" : "reachable > not-reachable"
            #expect(try await run.line() == "203.0.113.2: \(change)")
        }
        try await scratch.release("fifo")
        #expect(try await run.line() == "203.0.113.1: reachable > not-reachable")
        // The state is that of the running command again, so nothing runs.
        for isConnected in [true, false] {
            try await uplink.setConnected(isConnected)
            #expect(try await run.line().hasPrefix("203.0.113.2: "))
        }
        try await scratch.release("fifo")
        try await run.untilErrors(contain: "203.0.113.1: sh: exit status 0", times: 2)
        try await uplink.setConnected(true)
        let last = [try await run.line(), try await run.line()].sorted()
        #expect(last == ["203.0.113.1: not-reachable > reachable", "203.0.113.2: not-reachable > reachable"])
        #expect(try await run.result(after: SIGTERM).lines.count == 10)
    }

    /// Starts `run` with a command that prints the state, and waits until the first state is known.
    private func start(_ options: [String], in uplink: Uplink) async throws -> RunningCommand {
        let arguments = ["run", "--verbose"] + options + ["--", "sh", "-c", Self.tell]
        let run = try await RunningCommand.start(arguments, in: uplink.namespace)
        try await run.untilErrors(contain: "nothing to run", times: 1)
        return run
    }

    private func end(_ run: RunningCommand, lines: Int) async throws {
        let result = try await run.result(after: SIGTERM)
        #expect(result.status == 0)
        #expect(result.lines.count == lines)
    }
}

/// The ends of programs of `reachability run`, and of the command itself.
@Suite struct RunEndTests {
    @Test(arguments: [
        ("sleep 1000 & echo $!; wait", 15), ("trap '' TERM; sleep 1000 & echo $!; wait", 9),
        // The leader ends by SIGTERM. A member of its group that ignores SIGTERM is killed.
        ("sh -c 'trap \"\" TERM; echo $$; while :; do sleep 1000; done' & wait", 15),
    ])
    func `--kill-after ends the whole process group`(script: String, signal: CInt) async throws {
        let begin = ContinuousClock.now
        let run = try await start(["--kill-after", "10s"], script)
        let child = try #require(pid_t(try await run.line()))
        try await run.untilErrors(contain: "stopped at the limit")
        // A program that ignores SIGTERM is killed five seconds later.
        #expect(ContinuousClock.now - begin >= .seconds(signal == 9 ? 15 : 10))
        try await Command.expectEnd(of: child)
        let result = try await run.result(after: SIGTERM)
        #expect(result.status == 0)
        #expect(
            result.errorsWithoutDurations
                == "reachability: 127.0.0.1: sh: ended by signal \(signal) after TIME, stopped at the limit of 10s\n"
        )
    }

    @Test func `a program that ends in time, and its background processes, are not killed`() async throws {
        let run = try await start(["--kill-after", "1m"], "sleep 1000 >/dev/null 2>&1 & echo $!")
        let child = try #require(pid_t(try await run.line()))
        try await run.untilErrors(contain: "exit status 0")
        #expect(try await run.result(after: SIGTERM).status == 0)
        #expect(kill(child, SIGKILL) == 0)
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `a signal ends the running program and then run with status 0`(signal: CInt) async throws {
        let run = try await start([], "sleep 1000 & echo $!; wait")
        let child = try #require(pid_t(try await run.line()))
        let result = try await run.result(after: signal)
        #expect(result.status == 0)
        #expect(result.errorsWithoutDurations == "reachability: 127.0.0.1: sh: ended by signal 15 after TIME\n")
        try await Command.expectEnd(of: child)
    }

    @Test func `a signal at the moment when a child ends is not lost`() async throws {
        for _ in 0..<10 {
            let run = try await start([], "echo")
            #expect(try await run.line().isEmpty)
            #expect(try await run.result(after: SIGTERM).status == 0)
        }
    }

    @Test func `run waits for a program that handles the signal`() async throws {
        let scratch = ScratchDirectory()
        try scratch.makeFifo("fifo")
        // The program waits without a child, because the shell would print a message about the end of a child.
        let script = "trap 'echo tidy; exit 7' TERM; exec 3<>\(scratch.file("fifo")); echo ready; read line <&3"
        let run = try await start([], script)
        #expect(try await run.line() == "ready")
        let result = try await run.result(after: SIGTERM)
        #expect(result.status == 0)
        #expect(result.lines.last == "tidy")
        #expect(result.errorsWithoutDurations == "reachability: 127.0.0.1: sh: exit status 7 after TIME\n")
    }

    @Test func `SIGHUP has no effect under nohup`() async throws {
        let uplink = try await Uplink.make()
        let script = "trap '' HUP; exec $R run --initial -- sh -c 'echo $REACHABILITY_STATUS'"
        let run = try await RunningCommand.start(script: script, in: uplink.namespace)
        #expect(try await run.line() == "reachable")
        run.signal(SIGHUP)
        try await uplink.setConnected(false)
        #expect(try await run.line() == "not-reachable")
        #expect(try await run.result(after: SIGTERM).status == 0)
    }

    @Test func `ends of children are noticed although SIGCHLD is ignored`() async throws {
        // The command also does not read the standard input of run.
        let command = "exec $R run --initial --host 127.0.0.1 -- sh -c 'cat; echo; exit 4'"
        let script = "trap '' CHLD; \(command) <<E\ninput\nE"
        let run = try await RunningCommand.start(script: script)
        #expect(try await run.line().isEmpty)
        try await run.untilErrors(contain: "exit status 4")
        #expect(try await run.result(after: SIGTERM).status == 0)
    }

    @Test func `a closed standard output affects only the command`() async throws {
        let script = "exec $R run --initial --host 127.0.0.1 -- sh -c 'echo lost 2>/dev/null || exit 9' >&-"
        let run = try await RunningCommand.start(script: script)
        try await run.untilErrors(contain: "exit status 9")
        #expect(try await run.result(after: SIGTERM).status == 0)
    }

    @Test func `closing the output ends the program but not run`() async throws {
        let uplink = try await Uplink.make()
        let run = try await RunningCommand.start(
            ["run", "--initial", "--", "sh", "-c", "echo $REACHABILITY_STATUS"],
            in: uplink.namespace
        )
        #expect(try await run.line() == "reachable")
        await run.closeOutput()
        try await uplink.setConnected(false)
        // The program ends by SIGPIPE, because it does not inherit that run ignores this signal.
        try await run.untilErrors(contain: "ended by signal 13")
        #expect(try await run.result(after: SIGTERM, reading: false).status == 0)
    }

    private func start(_ options: [String], _ script: String) async throws -> RunningCommand {
        try await RunningCommand.start(
            ["run", "--initial", "--host", "127.0.0.1"] + options + ["--", "sh", "-c", script]
        )
    }
}

/// Commands that cannot be started, and options that are refused.
@Suite struct RunFailureTests {
    @Test func `a command that cannot be started is reported, and invalid options are refused`()
        async throws
    {
        let command = "no-such-command"
        let run = try await RunningCommand.start(["run", "--initial", "--host", "127.0.0.1", "--", command])
        try await run.untilErrors(contain: "not started")
        let result = try await run.result(after: SIGTERM)
        #expect(result.status == 0 && result.output.isEmpty)
        #expect(
            result.errorsWithoutDurations
                == "reachability: 127.0.0.1: \(command): exit status 127 after TIME, not started: there is no such command in PATH\n"
        )
        try await Command.run(["run", "--kill-after", "0s", "--", "true"])
            .expectRefusal("--kill-after takes more than 0, not 0s")
    }
}

/// `reachability run --hooks`: the executables of a directory in order. Hooks that other users can change are refused.
@Suite struct HookTests {
    private static let refused = "reachability: cannot use the hook "

    @Test func `the current hooks run at each change in the order of their names`() async throws {
        let (uplink, scratch) = (try await Uplink.make(), ScratchDirectory())
        for name in ["20-b", "10-a", "30-c", "Z", ".hidden", "a~", "a.bak", "a.dpkg-old", "a.dpkg-new"] {
            try scratch.write(name, "#!/bin/sh\necho \(name) $REACHABILITY_STATUS\n[ \(name) != 10-a ]\n")
        }
        let run = try await start(scratch, in: uplink)
        for name in ["10-a", "20-b", "30-c", "Z"] { #expect(try await run.line() == "\(name) reachable") }
        try scratch.remove("20-b")
        try scratch.write("00-new", "#!/bin/sh\necho new\n")
        try await run.untilErrors(contain: "\n", times: 4)
        try await uplink.setConnected(false)
        for line in ["new", "10-a not-reachable", "30-c not-reachable", "Z not-reachable"] {
            #expect(try await run.line() == line)
        }
        try await run.untilErrors(contain: "\n", times: 8)
        let result = try await end(run)
        let names = ["10-a", "20-b", "30-c", "Z", "00-new", "10-a", "30-c", "Z"]
        #expect(
            result.errorsWithoutDurations
                == names.map { name in
                    "reachability: network: \(scratch.file(name)): exit status \(name == "10-a" ? 1 : 0) after TIME\n"
                }.joined()
        )
    }

    @Test func `a directory that others can write to is not used until this is corrected`() async throws {
        let (uplink, scratch) = (try await Uplink.make(), ScratchDirectory())
        try scratch.write("hook", "#!/bin/sh\necho $REACHABILITY_PREVIOUS $REACHABILITY_STATUS\n")
        let run = try await start(scratch, in: uplink)
        #expect(try await run.line() == "reachable")
        try await run.untilErrors(contain: "exit status 0")
        #expect(chmod(scratch.path, 0o777) == 0)
        try await uplink.setConnected(false)
        try await run.untilErrors(contain: "cannot use the hooks in \(scratch.path): its group")
        #expect(chmod(scratch.path, 0o755) == 0)
        try await uplink.setConnected(true)
        #expect(try await run.line() == "not-reachable reachable")
        #expect(try await end(run).errors.ranges(of: "cannot use").count == 1)
        try await Command.run(["run", "--hooks", scratch.file("no")])
            .expectRefusal("cannot use the hooks in \(scratch.file("no")): No such file or directory", status: 66)
    }

    private func start(_ scratch: ScratchDirectory, in uplink: Uplink) async throws -> RunningCommand {
        try await RunningCommand.start(["run", "--initial", "--hooks", scratch.path], in: uplink.namespace)
    }

    private func end(_ run: RunningCommand) async throws -> CommandResult {
        let result = try await run.result(after: SIGTERM)
        #expect(result.status == 0)
        return result
    }
}
