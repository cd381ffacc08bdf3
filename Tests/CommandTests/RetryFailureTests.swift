import NetworkLab
import Testing

/// What `reachability retry` says of commands that cannot be started, and refuses to do at all.
@Suite struct RetryFailureTests {
    @Test(arguments: [
        ("no-such-command", 127, "PATH has no such command"), ("missing", 127, "No such file or directory"),
        ("text", 126, "Permission denied"), ("folder", 126, "Permission denied"),
        ("orphan", 127, "its interpreter is missing"), ("garbage", 126, "Exec format error"),
    ])
    func `a command that cannot be started is not retried`(name: String, status: CInt, why: String) async throws {
        let scratch = try ScratchDirectory()
        try scratch.write("text", "", mode: 0o644)
        try scratch.write("orphan", "#!/no/such/interpreter\n")
        try scratch.write("garbage", "\u{1}\u{2}\u{3}\n")
        try scratch.makeFolder("folder")
        let command = name.hasPrefix("no-such") ? name : scratch.file(name)
        for options in [[], ["--quiet"], ["--on-exit", "1-255"]] {
            let result = try await Command.run(["retry", "--target", "127.0.0.1"] + options + ["--", command])
            #expect(result.status == status && result.output.isEmpty)
            #expect(
                result.errorsWithoutDurations
                    == "reachability: 127.0.0.1: \(command): exit status \(status) after TIME, not started: \(why),"
                    + " attempt 1 of 10, not retried\n"
            )
        }
    }

    @Test(arguments: ["0", "256", ",", "6,", "6,,7", "9-1", "1-", "-1", "1-2-3", "x", "+6", " 6", "\u{662}", "6;7"])
    func `no exit statuses`(text: String) async throws {
        try await Command.run(["retry", "--on-exit=\(text)", "--", "true"]).expectRefusal(
            "\"\(text)\" is no list of exit statuses from 1 to 255: write 6,7,28 or 1-9, for example"
        )
    }

    @Test func `options that leave nothing to do`() async throws {
        try await Command.run(["retry", "--attempts", "0", "--", "true"])
            .expectRefusal("--attempts 0 leaves nothing to try")
        try await Command.run(["retry", "--deadline", "0s", "--", "true"])
            .expectRefusal("--deadline 0s leaves no time to try")
        try await Command.run(["retry", "--netns", "..", "--", "true"])
            .expectRefusal("\"..\" is no name, path or process of a network namespace")
    }

    @Test(arguments: [
        ([], "Give a command after --."), (["--"], "Give a command after --."), (["true"], "Give a command after --."),
        (["--attempts", "x", "--", "true"], "The value 'x' is invalid for '--attempts <number>'"),
    ])
    func `what makes no sense is refused`(arguments: [String], sentence: String) async throws {
        let result = try await Command.run(["retry"] + arguments)
        #expect(result.status == 64)
        #expect(result.output.isEmpty)
        #expect(result.errors.hasPrefix("Error: \(sentence)\n"))
    }

    @Test func `the longest deadline there can be`() async throws {
        let limits = ["--deadline", "9223372036854775s", "--attempts", "2"]
        let arguments = ["retry", "--quiet", "--target", "127.0.0.1"] + limits
        #expect(try await Command.run(arguments + ["--", "sh", "-c", "exit 4"]).status == 4)
    }
}
