import Foundation
import Glibc
import NetworkLab
import NetworkReachability
import ReachabilityRetry
import Subprocess
import Testing
import TrustForge

@testable import CommandLineSupport
@testable import reachability

/// Decisions of `reachability run` for sequences of states.
@Suite struct RunDecisionTests {
    /// Abbreviated states: `r` reachable, `w` reachable over WWAN, `n` not reachable, `u` unknown.
    private static let flags: [Character: NetworkReachabilityFlags?] = [
        "r": [.reachable], "w": [.reachable, .isWWAN], "n": [], "u": nil,
    ]

    @Test(arguments: [
        ("rnr", "rn nr"), ("rnnr", "rn nr"), ("urnu", "rn nu"), ("uuu", ""), ("r", ""), ("rr", ""), ("rwr", "rw wr"),
        ("nun", "nu un"),
    ])
    func `the event change includes every change of a known status`(states: String, runs: String) {
        #expect(Self.runs(states, [.change]) == runs)
    }

    @Test(arguments: [
        ("rnr", "nr"), ("nrwn", "nr"), ("nunr", "nr"), ("nur", "ur"), ("urn", ""), ("rwr", ""),
    ])
    func `the event reachable includes every change to reachable`(states: String, runs: String) {
        #expect(Self.runs(states, [.reachable]) == runs)
    }

    @Test(arguments: [
        ("rnr", "rn"), ("rwn", "wn"), ("nun", "un"), ("unr", ""), ("rur", ""),
    ])
    func `the event not-reachable includes every change to not reachable`(states: String, runs: String) {
        #expect(Self.runs(states, [.notReachable]) == runs)
    }

    @Test func `both events exclude a change of the connection type`() {
        #expect(Self.runs("rwnrun", [.reachable, .notReachable]) == "wn nr un")
    }

    @Test(arguments: [
        ("r", RunTrigger.change, "-r"), ("urn", .change, "-r rn"), ("n", .reachable, ""), ("nr", .reachable, "nr"),
        ("unr", .notReachable, "-n"), ("u", .change, ""),
    ])
    func `--initial includes the first known status`(states: String, trigger: RunTrigger, runs: String) {
        #expect(Self.runs(states, [trigger], initially: true) == runs)
    }

    /// Returns the abbreviated runs: the previous state, or `-` for none, and the state.
    private static func runs(_ states: String, _ triggers: Set<RunTrigger>, initially: Bool = false) -> String {
        var decision = RunDecision(triggers, runsInitially: initially)
        return states.compactMap { state in
            guard let change = decision.take(path(state)) else { return nil }
            let previous = flags.keys.first { path($0).status == change.previous }
            #expect(change.path.status == path(state).status)
            return "\(previous ?? "-")\(state)"
        }.joined(separator: " ")
    }

    private static func path(_ state: Character) -> NetworkPath {
        NetworkPath(flags: flags[state] ?? nil)
    }
}

/// The ends of the programs of `run`, `retry` and notifiers.
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
        ("no-such-command", 127, "there is no such command in PATH"), ("/missing", 127, "No such file or directory"),
        ("/text", 126, "Permission denied"), ("/folder", 126, "Permission denied"),
        ("/orphan", 127, "its interpreter is missing"), ("/garbage", 126, "Exec format error"),
    ])
    func `a program that cannot be started has the exit status of a shell`(
        name: String,
        status: CInt,
        why: String
    ) async throws {
        let directory = ScratchDirectory()
        // A separate process writes the files. A child of another test would hold them open for writing (ETXTBSY).
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

    @Test func `the line about an end contains the target, the program and the time`() {
        func line(_ target: String?, _ cause: ProgramEnd.Cause, late limit: String? = nil) -> String {
            let duration = Duration.milliseconds(1204)
            return
                "\(ProgramEnd(target: target, program: "sync", cause: cause, duration: duration, exceededLimit: limit))"
        }
        #expect(line(nil, .exited(3)) == "network: sync: exit status 3 after 1.204s")
        #expect(
            line("a", .signalled(15), late: "2s")
                == "a: sync: ended by signal 15 after 1.204s, stopped at the limit of 2s"
        )
        #expect(
            line("a", .notStarted(127, "there is no such command in PATH"))
                == "a: sync: exit status 127 after 1.204s, not started: there is no such command in PATH"
        )
    }
}

/// The ends of a program that `retry` repeats.
@Suite struct CommandFailureTests {
    @Test(
        arguments: [
            (ProgramEnd.Cause.exited(7), [6, 28], false), (.exited(7), [1, 7], true), (.exited(255), nil, true),
            (.signalled(9), nil, false), (.signalled(9), [137], true), (.notStarted(127, "x"), [127], false),
        ] as [(ProgramEnd.Cause, Set<CInt>?, Bool)]
    )
    func `--on-exit selects the statuses to retry`(cause: ProgramEnd.Cause, statuses: Set<CInt>?, isRetried: Bool) {
        let end = ProgramEnd(target: nil, program: "sh", cause: cause, duration: .zero, exceededLimit: nil)
        let stage = CommandFailure(end: end, statuses: statuses).failureStage
        #expect(stage == (isRetried ? .mayHaveBeenProcessed : nil))
    }
}

/// The end of a process group.
@Suite struct ProcessGroupTests {
    /// Starts a program that leads its own process group. Only the test waits for it.
    private static func leader(_ script: String) throws -> LabProcess {
        let process = try LabProcess("setsid", ["sh", "-c", script])
        // Waits until the process leads its group.
        while getpgid(process.identifier) != process.identifier { sched_yield() }
        return process
    }

    private static func hasEnded(_ process: pid_t) -> Bool {
        var information = siginfo_t()
        return waitid(P_PID, id_t(process), &information, WEXITED | WNOHANG | WNOWAIT) == 0
            && information.si_signo == SIGCHLD
    }

    @Test(.timeLimit(.minutes(15)))
    func `an ended leader that is a zombie does not delay the end`() async throws {
        let leader = try Self.leader("exit 0")
        try await waitUntil { Self.hasEnded(leader.identifier) }
        #expect(kill(-leader.identifier, 0) == 0, "the kernel counts zombies")
        await ProcessGroup(leader.identifier).finish(by: SIGTERM, within: .seconds(3600))
        _ = try leader.wait()
    }

    @Test(.timeLimit(.minutes(15)))
    func `a leader that ends and stays a zombie does not delay the end`() async throws {
        let leader = try Self.leader("sleep 1000 & exec sleep 1000")
        await ProcessGroup(leader.identifier).finish(by: SIGTERM, within: .seconds(3600))
        #expect(ProcessTable.runningMember(of: leader.identifier) == nil)
        _ = try leader.wait()
    }

    @Test func `a member that ignores the signal is killed although another is a zombie`() async throws {
        let leader = try Self.leader("trap '' TERM; sh -c 'while :; do sleep 1000; done' & exit 0")
        try await waitUntil { Self.hasEnded(leader.identifier) }
        let child = try #require(ProcessTable.runningMember(of: leader.identifier))
        #expect(child != leader.identifier)
        await ProcessGroup(leader.identifier).finish(by: SIGTERM, within: .milliseconds(1))
        try await waitUntil { !ProcessTable.isRunning(child, in: leader.identifier) }
        _ = try leader.wait()
    }

    @Test func `/proc is that of this process namespace`() {
        #expect(ProcessTable.isOurs)
        #expect(ProcessTable.isRunning(getpid(), in: getpgrp()))
        #expect(!ProcessTable.isRunning(getpid(), in: 1))
    }
}

/// Files and directories that `run --hooks` and `exec` of a notifier refuse.
@Suite struct HookCheckTests {
    private let directory = ScratchDirectory()

    private func file(_ name: String, mode: mode_t = 0o755) throws -> String {
        let path = try directory.write(name, "#!/bin/sh\n")
        guard chmod(path, mode) == 0 else { throw LabError.system("chmod \(path)") }
        return path
    }

    private func refusal(_ body: () throws(HookRefusal) -> Void) -> HookRefusal? {
        do throws(HookRefusal) {
            try body()
            return nil
        } catch {
            return error
        }
    }

    private func hook(_ path: String) -> HookRefusal? {
        refusal { () throws(HookRefusal) in try HookCheck().checkHook(path) }
    }

    private func folder(_ path: String) -> HookRefusal? {
        refusal { () throws(HookRefusal) in try HookCheck().checkDirectory(path) }
    }

    @Test func `a hook is an executable file that only its owner can write`() throws {
        #expect(hook(try file("own")) == nil)
        #expect(hook("/bin/echo") == nil)
        #expect(hook(try file("group", mode: 0o775)) == .writableByOthers)
        #expect(hook(try file("other", mode: 0o757)) == .writableByOthers)
        #expect(hook(try file("plain", mode: 0o644)) == .notExecutable)
        #expect(hook(directory.path) == .noRegularFile)
        #expect(hook(directory.path + "/missing") == .unreadable("No such file or directory"))
        let link = directory.path + "/dangling"
        #expect(symlink("nowhere", link) == 0)
        #expect(hook(link) == .unreadable("No such file or directory"))
    }

    @Test func `a directory of hooks is not writable by others`() throws {
        #expect(chmod(directory.path, 0o755) == 0)
        #expect(folder(directory.path) == nil)
        #expect(folder(try file("file")) == .noDirectory)
        #expect(folder(directory.path + "/missing") == .unreadable("No such file or directory"))
        #expect(chmod(directory.path, 0o777) == 0)
        #expect(folder(directory.path) == .writableByOthers)
        #expect(throws: ExitMessage.self) { try HookDirectory(directory.path) }
    }

    @Test func `only files of root and of the user are trusted`() throws {
        let path = try file("own")
        let foreign = HookCheck(user: geteuid() &+ 1)
        let isRoot = geteuid() == 0
        #expect(
            refusal { () throws(HookRefusal) in try foreign.checkHook(path) }
                == (isRoot ? nil : .foreignOwner(geteuid()))
        )
        guard isRoot, chown(path, 65_534, 65_534) == 0 else { return }
        #expect(hook(path) == .foreignOwner(65_534))
        #expect(refusal { () throws(HookRefusal) in try HookCheck(user: 65_534).checkHook(path) } == nil)
    }

    @Test func `a refusal contains the remedy`() {
        let texts = [
            HookRefusal.noDirectory: "it is not a directory", .noRegularFile: "it is not a regular file",
            .notExecutable: "it is not executable; make it executable with `chmod +x`",
            .writableByOthers: "its group or others can write to it; remove this permission with `chmod go-w`",
            .foreignOwner(7):
                "its owner is user 7; the owner must be root or the user who runs this command",
        ]
        for (refusal, text) in texts { #expect("\(refusal)" == text) }
    }

    @Test func `hooks run in the order of their names, without backups of editors and packages`() async throws {
        #expect(chmod(directory.path, 0o755) == 0)
        for name in ["20-b", "10-a", "30-c", "Z", ".hidden", "a~", "a.bak", "a.dpkg-old", "a.dpkg-new"] {
            _ = try file(name)
        }
        let hooks = await (try HookDirectory(directory.path)).hooks()
        #expect(hooks.map(\.name) == ["10-a", "20-b", "30-c", "Z"].map { "\(directory.path)/\($0)" })
    }
}
