import CommandLineSupport
import NetworkLab
import Subprocess
import Testing
import TrustForge

/// How programs end that `run`, `retry` and notifiers start.
@Suite struct ProgramRunnerTests {
    @Test func `a program ends with its status or its signal`() async {
        func cause(_ script: String) async -> ProgramEnd.Cause {
            await ProgramRunner().cause(of: Program(name: "sh", arguments: ["-c", script]), .inherit)
        }
        #expect(await cause("exit 0") == .exited(0))
        #expect(await cause("exit 255") == .exited(255))
        #expect(await cause("kill -9 $$") == .signalled(9))
        #expect(ProgramEnd.Cause.signalled(9).status == 137)
    }

    @Test(arguments: [
        ("no-such-command", 127, "PATH has no such command"), ("/missing", 127, "No such file or directory"),
        ("/text", 126, "Permission denied"), ("/folder", 126, "Permission denied"),
        ("/orphan", 127, "its interpreter is missing"), ("/garbage", 126, "Exec format error"),
    ])
    func `a program that cannot be started has the status of a shell`(
        name: String,
        status: CInt,
        why: String
    ) async throws {
        let directory = try ScratchDirectory()
        // A process of its own writes the files: a child of another test would hold them open for writing (ETXTBSY).
        let script = """
            cd "$0" && : >text && mkdir folder && echo '#!/no/such/interpreter' >orphan && printf '\\1\\2\\3\\n' >garbage
            chmod 755 orphan garbage
            """
        let path = directory.path
        let made = try await LabThread.detached { try LabProcess("sh", ["-c", script, path]).wait() }
        try #require(made.status == 0, "\(made.errors)")
        let program = Program(name: name.hasPrefix("/") ? directory.path + name : name)
        #expect(await ProgramRunner().cause(of: program, .inherit) == .notStarted(status, why))
    }

    @Test func `the line about an end has the target, the program and the time`() {
        func line(_ target: String?, _ cause: ProgramEnd.Cause, late limit: String? = nil) -> String {
            let duration = Duration.milliseconds(1204)
            return
                "\(ProgramEnd(target: target, program: "sync", cause: cause, duration: duration, exceededLimit: limit))"
        }
        #expect(line(nil, .exited(3)) == "network: sync: exit status 3 after 1.204s")
        #expect(
            line("a", .signalled(15), late: "2s") == "a: sync: ended by signal 15 after 1.204s, told to end after 2s"
        )
        #expect(
            line("a", .notStarted(127, "PATH has no such command"))
                == "a: sync: exit status 127 after 1.204s, not started: PATH has no such command"
        )
    }
}
