import Glibc
import NetworkLab
import Testing

@testable import CommandLineSupport

/// Ending all that a program has started.
@Suite struct ProcessGroupTests {
    /// Starts a program that leads its own process group. Only the test waits for it.
    private static func leader(_ script: String) throws -> LabProcess {
        let process = try LabProcess("setsid", ["sh", "-c", script])
        // Until it leads.
        while getpgid(process.identifier) != process.identifier { sched_yield() }
        return process
    }

    private static func hasEnded(_ process: pid_t) -> Bool {
        var information = siginfo_t()
        return waitid(P_PID, id_t(process), &information, WEXITED | WNOHANG | WNOWAIT) == 0
            && information.si_signo == SIGCHLD
    }

    @Test(.timeLimit(.minutes(15)))
    func `one that has ended and is not waited for does not hold it up`() async throws {
        let leader = try Self.leader("exit 0")
        #expect(try await eventually { Self.hasEnded(leader.identifier) })
        #expect(kill(-leader.identifier, 0) == 0, "the kernel counts zombies")
        await ProcessGroup(leader.identifier).finish(by: SIGTERM, within: .seconds(3600))
        _ = try leader.wait()
    }

    @Test(.timeLimit(.minutes(15)))
    func `one that obeys and is not waited for does not hold it up`() async throws {
        let leader = try Self.leader("sleep 1000 & exec sleep 1000")
        await ProcessGroup(leader.identifier).finish(by: SIGTERM, within: .seconds(3600))
        #expect(ProcessTable.livingMember(of: leader.identifier) == nil)
        _ = try leader.wait()
    }

    @Test func `one that does not obey is killed, beside one that is not waited for`() async throws {
        let leader = try Self.leader("trap '' TERM; sh -c 'while :; do sleep 1000; done' & exit 0")
        #expect(try await eventually { Self.hasEnded(leader.identifier) })
        let child = try #require(ProcessTable.livingMember(of: leader.identifier))
        #expect(child != leader.identifier)
        await ProcessGroup(leader.identifier).finish(by: SIGTERM, within: .milliseconds(1))
        #expect(try await eventually { !ProcessTable.lives(child, in: leader.identifier) })
        _ = try leader.wait()
    }

    @Test func `the table is of our own processes`() {
        #expect(ProcessTable.isOurs)
        #expect(ProcessTable.lives(getpid(), in: getpgrp()))
        #expect(!ProcessTable.lives(getpid(), in: 1))
    }
}
