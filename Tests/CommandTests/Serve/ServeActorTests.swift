import Foundation
import LinuxSupport
import NetworkLab
import Testing

/// The process that `reachability serve` names as the cause of an outage. Real processes delete routes of a real kernel.
@Suite struct ServeActorTests {
    private struct Actor: Decodable {
        let pid: Int32
        let program: String
    }

    private struct Outage: Decodable {
        let actor: Actor?
        let end: String?
    }

    /// Starts the service on a machine whose only default route is an IPv4 route.
    private func start(_ directory: ScratchDirectory) async throws -> ServeLab {
        let uplink = try await Uplink.make()
        try await uplink.ip("-6 route del default")
        return try await ServeLab.start(history: directory.file("history"), on: uplink, in: directory)
    }

    /// Runs a script in the namespace that deletes the route. `$0` is a fifo that `$$` holds open, with the command in it.
    private func run(_ script: String, _ lab: ServeLab) async throws -> RunningCommand {
        let name = "commands-\(UInt64.random(in: 0 ... .max))"
        try lab.directory.makeFifo(name)
        let words = ["-c", "exec 3<>$0; echo route del default >&3; \(script)", lab.directory.file(name)]
        return try await RunningCommand.start(in: lab.uplink.namespace) { try LabProcess("sh", words) }
    }

    private func outages(_ lab: ServeLab) async throws -> [Outage] {
        struct List: Decodable { let items: [Outage] }
        return try JSONDecoder().decode(List.self, from: Data(try await lab.get("/v1/outages").utf8)).items
    }

    /// Deletes the route with a script, and waits until the outage is known.
    private func lose(_ lab: ServeLab, by script: String) async throws -> RunningCommand {
        let process = try await run(script, lab)
        try await waitUntil { try await outages(lab).first.map { $0.end == nil } ?? false }
        return process
    }

    /// Ends the process that deleted the route, and waits until the outage is over.
    private func regain(_ lab: ServeLab, _ process: RunningCommand) async throws {
        _ = try await process.result(after: SIGKILL)
        try await lab.uplink.ip("route add default via 192.0.2.1")
        try await waitUntil { try await outages(lab).first?.end != nil }
    }

    /// Deletes the route with a process that keeps running, and returns the process and its name in the outage. No process is named if the
    /// service handles another event at that moment, as at its start. Then the test tries again.
    private func named(
        _ lab: ServeLab,
        by script: String = "exec ip -batch $0"
    ) async throws -> (RunningCommand, Actor) {
        let deadline = Deadline(after: .patience)
        while !deadline.hasPassed {
            let process = try await lose(lab, by: script)
            var found: Actor?
            // The search takes some milliseconds. If it takes longer than this, another outage is tried too.
            _ = try await eventually(within: .seconds(5)) {
                found = try await outages(lab).first?.actor
                return found != nil
            }
            if let found { return (process, found) }
            try await regain(lab, process)
        }
        throw LabError("no process was named in any outage")
    }

    @Test func `a process that keeps running is named, also in the history`() async throws {
        let directory = ScratchDirectory()
        let lab = try await start(directory)
        let (process, actor) = try await named(lab)
        #expect(actor.pid == process.identifier)
        #expect(actor.program == "ip")
        _ = try await process.result(after: SIGKILL)
        #expect(try await lab.end() == 0)
        let after = try await ServeLab.start(history: directory.file("history"), on: lab.uplink, in: directory)
        #expect(try await outages(after).contains { $0.actor?.pid == process.identifier })
        _ = try await after.end()
    }

    /// Starts a process with the number 1 in its own PID namespace, without a netlink socket.
    private func namesake(_ lab: ServeLab) async throws -> RunningCommand {
        let process = try await RunningCommand.start(in: lab.uplink.namespace) {
            try LabProcess("unshare", ["--pid", "--fork", "--kill-child", "sh", "-c", "echo; exec sleep 1000"])
        }
        _ = try await process.line()
        return process
    }

    private func end(_ lab: ServeLab, _ processes: RunningCommand...) async throws {
        for process in processes {
            _ = try await process.result(after: SIGKILL)
        }
        _ = try await lab.end()
    }

    @Test func `a process of another PID namespace is named by its number in this namespace`() async throws {
        let lab = try await start(ScratchDirectory())
        let other = try await namesake(lab)
        let (process, actor) = try await named(lab, by: "exec unshare --pid --fork --kill-child ip -batch $0")
        #expect(actor.program == "ip")
        #expect(actor.pid > 1 && actor.pid != process.identifier)
        try await end(lab, process, other)
    }

    @Test(
        arguments: [
            // The process has ended.
            "ip route del default; exec sleep 1000",
            // The process has ended, and another one has its number.
            "unshare --pid --fork ip route del default; exec sleep 1000",
        ]
    )
    func `no other process is named in place of one that has ended`(script: String) async throws {
        let lab = try await start(ScratchDirectory())
        let other = try await namesake(lab)
        try await regain(lab, try await lose(lab, by: script))
        // Outages are processed one after the other. When the name for this one is known, no name was found for the one before.
        let (known, actor) = try await named(lab)
        #expect(actor.pid == known.identifier)
        #expect(try await outages(lab).allSatisfy { ($0.actor?.program ?? "ip") == "ip" })
        try await end(lab, other, known)
    }
}
