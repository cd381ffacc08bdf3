import Glibc
import NetworkLab
import Testing

/// `reachability run --hooks`: the executables of a directory, in order, unless somebody else may have a hand in them.
@Suite struct HookTests {
    private static let refused = "reachability: cannot use the hook "

    @Test func `hooks run in the order of their names, as they are at each change`() async throws {
        let (uplink, scratch) = (try await Uplink.make(), try ScratchDirectory())
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

    @Test func `what others may have a hand in is refused, once for each reason`() async throws {
        let (uplink, scratch) = (try await Uplink.make(), try ScratchDirectory())
        try scratch.write("group", "#!/bin/sh\necho never\n", mode: 0o775)
        try scratch.write("plain", "#!/bin/sh\necho never\n", mode: 0o644)
        try scratch.link("good", to: "/bin/echo")
        let run = try await start(scratch, in: uplink)
        #expect(try await run.line().isEmpty)
        try await run.untilErrors(contain: "exit status 0")
        try scratch.write("plain", "#!/bin/sh\necho now\n", mode: 0o755)
        try scratch.write("group", "", mode: 0o644)
        try await uplink.setConnected(false)
        #expect(try await run.line().isEmpty)
        #expect(try await run.line() == "now")
        try await run.untilErrors(contain: "exit status 0", times: 3)
        let good = "reachability: network: \(scratch.file("good")): exit status 0 after TIME"
        let writable = "its group or others may write to it: `chmod go-w` takes that away"
        let idle = "it is not executable: `chmod +x` lets it be run"
        #expect(
            try await end(run).errorsWithoutDurations.split(separator: "\n").map(String.init) == [
                Self.refused + scratch.file("group") + ": " + writable,
                Self.refused + scratch.file("plain") + ": " + idle,
                good,
                Self.refused + scratch.file("group") + ": " + idle,
                good,
                "reachability: network: \(scratch.file("plain")): exit status 0 after TIME",
            ]
        )
    }

    @Test func `a directory that comes to be open to others is used no more, until it is put right`() async throws {
        let (uplink, scratch) = (try await Uplink.make(), try ScratchDirectory())
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
        run.signal(SIGTERM)
        let result = try await run.result()
        #expect(result.status == 0)
        return result
    }
}
