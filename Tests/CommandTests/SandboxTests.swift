import Glibc
import NetworkLab
import Testing

/// Netlink denied by a sandbox, for ever or for a while.
@Suite struct SandboxTests {
    private static let errors = [EPERM, EACCES, EAFNOSUPPORT, EMFILE, ENOBUFS]

    private static func start(
        _ arguments: [String],
        in namespace: LabNamespace,
        denyingWith error: CInt
    ) async throws -> (Sandbox, RunningCommand) {
        try await namespace.perform {
            try Sandbox.enter(denyingNetlinkWith: error) { RunningCommand(try Command.start(arguments)) }
        }
    }

    @Test func `status is unknown`() async throws {
        let uplink = try await Uplink.make()
        let (sandbox, status) = try await Self.start(
            ["status", "--json", "203.0.113.9", "::1"],
            in: uplink.namespace,
            denyingWith: EPERM
        )
        let result = try await status.result()
        #expect(result.status == 2)
        #expect(result.errors.isEmpty)
        #expect(result.lines.count == 2)
        for text in result.lines {
            let line = try JSONLine(text)
            #expect(line["status"] == "unknown")
            #expect(line["reason"] == "netlinkUnavailable")
        }
        #expect(sandbox.denials > 0)
    }

    @Test(arguments: errors)
    func `watch begins with unknown, and knows when it may`(error: CInt) async throws {
        let uplink = try await Uplink.make()
        let (sandbox, watch) = try await Self.start(["watch"], in: uplink.namespace, denyingWith: error)
        #expect(try await watch.status() == "unknown, netlink is not available")
        // It tries again, and is not told off for trying often.
        #expect(try await eventually { sandbox.denials >= 4 })
        #expect(sandbox.denials < 20)
        sandbox.allow()
        #expect(try await watch.status().hasPrefix("reachable"))
        try await uplink.setConnected(false)
        #expect(try await watch.status() == "not reachable, no route")
        watch.signal(SIGTERM)
        let result = try await watch.result()
        #expect(result.status == 0)
        #expect(result.lines.count == 3)
    }

    @Test func `a limit of descriptors under which nothing can be waited for is told, and costs nothing`() async throws
    {
        let uplink = try await Uplink.make()
        let watch = try await RunningCommand.start(["watch"], in: uplink.namespace)
        #expect(try await watch.status().hasPrefix("reachable"))
        // poll(2) refuses more descriptors than a process may have, from the next event on.
        try await Self.prlimit(watch, "1:4096")
        try await uplink.setConnected(false)
        var status = try await watch.status()
        if status.hasPrefix("not reachable") { status = try await watch.status() }
        #expect(status == "unknown, netlink is not available")
        try await Self.prlimit(watch, "1024:4096")
        while try await watch.status() != "not reachable, no route" {}
        try await uplink.setConnected(true)
        #expect(try await watch.status().hasPrefix("reachable"))
        watch.signal(SIGTERM)
        #expect(try await watch.result().status == 0)
    }

    private static func prlimit(_ command: RunningCommand, _ limits: String) async throws {
        let identifier = command.identifier
        let result = try await LabThread.detached {
            try LabProcess("prlimit", ["--pid", "\(identifier)", "--nofile=\(limits)"]).wait()
        }
        guard result.status == 0 else { throw LabError("prlimit: \(result.errors)") }
    }
}
