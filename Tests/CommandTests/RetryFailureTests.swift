import NetworkLab
import Testing

/// What `reachability retry` says of commands that cannot be started, and refuses to do at all.
@Suite struct RetryFailureTests {
    @Test(arguments: [[], ["--quiet"], ["--on-exit", "1-255"]])
    func `a command that cannot be started is not retried`(options: [String]) async throws {
        let scratch = try ScratchDirectory()
        try scratch.write("text", "", mode: 0o644)
        for (command, status, why) in [
            ("no-such-command", CInt(127), "PATH has no such command"),
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

    @Test func `options that leave nothing to do are refused, and the longest deadline is not`() async throws {
        try await Command.run(["retry", "--attempts", "0", "--", "true"])
            .expectRefusal("--attempts 0 leaves nothing to try")
        try await Command.run(["retry", "--deadline", "36501d", "--", "true"])
            .expectRefusal("\"36501d\" is too long: a duration is at most 36500d")
        try await Command.run(["retry", "--deadline", "0s", "--", "true"])
            .expectRefusal("--deadline 0s leaves no time to try")
        let limits = ["--deadline", "36500d", "--attempts", "2"]
        let arguments = ["retry", "--quiet", "--target", "127.0.0.1"] + limits
        #expect(try await Command.run(arguments + ["--", "sh", "-c", "exit 4"]).status == 4)
    }
}
