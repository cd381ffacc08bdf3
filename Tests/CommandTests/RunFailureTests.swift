import Glibc
import NetworkLab
import Testing

/// What `reachability run` says of commands that cannot be started, and refuses to do at all.
@Suite struct RunFailureTests {
    @Test(arguments: [
        ("no-such-command", "127 after TIME, not started: PATH has no such command"),
        ("missing", "127 after TIME, not started: No such file or directory"),
        ("text", "126 after TIME, not started: Permission denied"),
        ("folder", "126 after TIME, not started: Permission denied"),
        ("orphan", "127 after TIME, not started: its interpreter is missing"),
        ("garbage", "126 after TIME, not started: Exec format error"),
    ])
    func `a command that cannot be started`(name: String, end: String) async throws {
        let scratch = try ScratchDirectory()
        try scratch.write("text", "", mode: 0o644)
        try scratch.write("orphan", "#!/no/such/interpreter\n")
        try scratch.write("garbage", "\u{1}\u{2}\u{3}\n")
        try scratch.makeFolder("folder")
        let command = name.hasPrefix("no-such") ? name : scratch.file(name)
        let run = try await RunningCommand.start(["run", "--initial", "--host", "127.0.0.1", "--", command])
        try await run.untilErrors(contain: "not started")
        run.signal(SIGTERM)
        let result = try await run.result()
        #expect(result.status == 0)
        #expect(result.output.isEmpty)
        #expect(result.errorsWithoutDurations == "reachability: 127.0.0.1: \(command): exit status \(end)\n")
    }

    @Test func `options that are none`() async throws {
        for arguments in [["--settle", "1", "--", "true"], ["--kill-after", "x", "--", "true"]] {
            let text = arguments[1]
            try await Command.run(["run"] + arguments)
                .expectRefusal("\"\(text)\" is no duration: write 500ms, 1.5s, 2m or 1h, for example")
        }
        try await Command.run(["run", "--kill-after", "0s", "--", "true"])
            .expectRefusal("--kill-after 0s leaves no time to run")
        try await Command.run(["run", "--netns", "..", "--", "true"])
            .expectRefusal("\"..\" is no name, path or process of a network namespace")
    }

    @Test(arguments: [
        ([], "Give a command after --, or --hooks."),
        (["--"], "Give a command after --, or --hooks."),
        (["--hooks", "/etc", "--", "true"], "A command and --hooks exclude each other."),
        (["true"], "Give a command after --, or --hooks."),
        (["--on", "x", "--", "true"], "The value 'x' is invalid for '--on <event>'"),
    ])
    func `what makes no sense is refused`(arguments: [String], sentence: String) async throws {
        let result = try await Command.run(["run"] + arguments)
        #expect(result.status == 64)
        #expect(result.output.isEmpty)
        #expect(result.errors.hasPrefix("Error: \(sentence)\n"))
    }
}
