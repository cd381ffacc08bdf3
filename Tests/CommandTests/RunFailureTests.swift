import Glibc
import NetworkLab
import Testing

/// What `reachability run` says of commands that cannot be started, and refuses to do at all.
@Suite struct RunFailureTests {
    @Test func `a command that cannot be started is reported, and options that leave nothing to do are refused`()
        async throws
    {
        let command = "no-such-command"
        let run = try await RunningCommand.start(["run", "--initial", "--host", "127.0.0.1", "--", command])
        try await run.untilErrors(contain: "not started")
        run.signal(SIGTERM)
        let result = try await run.result()
        #expect(result.status == 0 && result.output.isEmpty)
        #expect(
            result.errorsWithoutDurations
                == "reachability: 127.0.0.1: \(command): exit status 127 after TIME, not started: PATH has no such command\n"
        )
        try await Command.run(["run", "--kill-after", "0s", "--", "true"])
            .expectRefusal("--kill-after 0s leaves no time to run")
    }
}
