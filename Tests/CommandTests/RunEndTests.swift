import Glibc
import NetworkLab
import Testing

/// How what `reachability run` runs ends, and how it ends itself.
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
        try await run.untilErrors(contain: "told to end")
        // A program that ignores SIGTERM is killed five seconds later.
        #expect(ContinuousClock.now - begin >= .seconds(signal == 9 ? 15 : 10))
        try await expectNobody(child)
        run.signal(SIGTERM)
        let result = try await run.result()
        #expect(result.status == 0)
        #expect(
            result.errorsWithoutDurations
                == "reachability: 127.0.0.1: sh: ended by signal \(signal) after TIME, told to end after 10s\n"
        )
    }

    @Test func `what ends in time is left alone, also what it leaves behind`() async throws {
        let run = try await start(["--kill-after", "1m"], "sleep 1000 >/dev/null 2>&1 & echo $!")
        let child = try #require(pid_t(try await run.line()))
        try await run.untilErrors(contain: "exit status 0")
        run.signal(SIGTERM)
        #expect(try await run.result().status == 0)
        #expect(kill(child, SIGKILL) == 0)
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `signals end what runs, then run itself with 0`(signal: CInt) async throws {
        let run = try await start([], "sleep 1000 & echo $!; wait")
        let child = try #require(pid_t(try await run.line()))
        run.signal(signal)
        let result = try await run.result()
        #expect(result.status == 0)
        #expect(result.errorsWithoutDurations == "reachability: 127.0.0.1: sh: ended by signal 15 after TIME\n")
        try await expectNobody(child)
    }

    @Test func `a signal at the moment a child ends is not lost`() async throws {
        for _ in 0..<10 {
            let run = try await start([], "echo")
            #expect(try await run.line().isEmpty)
            run.signal(SIGTERM)
            #expect(try await run.result().status == 0)
        }
    }

    @Test func `what may still tidy up is waited for`() async throws {
        let scratch = try ScratchDirectory()
        try scratch.makeFifo("fifo")
        // It waits without a child, of whose end the shell would speak.
        let script = "trap 'echo tidy; exit 7' TERM; exec 3<>\(scratch.file("fifo")); echo ready; read line <&3"
        let run = try await start([], script)
        #expect(try await run.line() == "ready")
        run.signal(SIGTERM)
        let result = try await run.result()
        #expect(result.status == 0)
        #expect(result.lines.last == "tidy")
        #expect(result.errorsWithoutDurations == "reachability: 127.0.0.1: sh: exit status 7 after TIME\n")
    }

    @Test func `under nohup a hang-up does not matter`() async throws {
        let uplink = try await Uplink.make()
        let script = "trap '' HUP; exec $R run --initial -- sh -c 'echo $REACHABILITY_STATUS'"
        let run = try await RunningCommand.start(script: script, in: uplink.namespace)
        #expect(try await run.line() == "reachable")
        run.signal(SIGHUP)
        try await uplink.setConnected(false)
        #expect(try await run.line() == "not-reachable")
        run.signal(SIGTERM)
        #expect(try await run.result().status == 0)
    }

    @Test func `children are seen to end although their signal is ignored`() async throws {
        // The command does not read our standard input either.
        let command = "exec $R run --initial --host 127.0.0.1 -- sh -c 'cat; echo; exit 4'"
        let script = "trap '' CHLD; \(command) <<E\ninput\nE"
        let run = try await RunningCommand.start(script: script)
        #expect(try await run.line().isEmpty)
        try await run.untilErrors(contain: "exit status 4")
        run.signal(SIGTERM)
        #expect(try await run.result().status == 0)
    }

    @Test func `standard output that is closed concerns the command alone`() async throws {
        let script = "exec $R run --initial --host 127.0.0.1 -- sh -c 'echo lost 2>/dev/null || exit 9' >&-"
        let run = try await RunningCommand.start(script: script)
        try await run.untilErrors(contain: "exit status 9")
        run.signal(SIGTERM)
        #expect(try await run.result().status == 0)
    }

    @Test func `a reader that goes away concerns the command alone`() async throws {
        let uplink = try await Uplink.make()
        let run = try await RunningCommand.start(
            ["run", "--initial", "--", "sh", "-c", "echo $REACHABILITY_STATUS"],
            in: uplink.namespace
        )
        #expect(try await run.line() == "reachable")
        await run.closeOutput()
        try await uplink.setConnected(false)
        // To a closed pipe, not to one that is ignored as we ignore it.
        try await run.untilErrors(contain: "ended by signal 13")
        run.signal(SIGTERM)
        #expect(try await run.result(reading: false).status == 0)
    }

    private func start(_ options: [String], _ script: String) async throws -> RunningCommand {
        try await RunningCommand.start(
            ["run", "--initial", "--host", "127.0.0.1"] + options + ["--", "sh", "-c", script]
        )
    }

    /// Expects a process to be gone, or dead and not yet collected by whoever inherited it.
    private func expectNobody(_ identifier: pid_t) async throws {
        let script = "! grep -q '^State:[[:space:]][^ZX]' /proc/\(identifier)/status 2>/dev/null"
        #expect(try await Command.run(script: script).status == 0, "process \(identifier) is still there")
    }
}
