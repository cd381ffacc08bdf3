import Foundation
import LinuxPrimitives
import NetworkLab
import Testing

/// Whom `reachability serve` names when real processes delete the route of a real kernel.
@Suite struct ServeActorTests {
    private struct Outage: Decodable {
        struct Actor: Decodable {
            let pid: Int32
            let program: String
        }

        struct Evidence: Decodable { let phase: String }
        let actor: Actor?
        let evidence: [Evidence]
    }

    /// A machine whose one default route is that of IPv4, and the service on it.
    private func start(_ directory: ScratchDirectory) async throws -> ServeLab {
        let uplink = try await Uplink.make()
        try await uplink.ip("-6 route del default")
        try directory.makeFifo("commands")
        return try await ServeLab.start(history: directory.file("history"), on: uplink, in: directory)
    }

    /// Runs a script that deletes the route, in the namespace; `$0` is a fifo that `$$` holds open, with the command in it.
    private func run(_ script: String, _ lab: ServeLab) async throws -> RunningCommand {
        let words = ["-c", "exec 3<>$0; echo route del default >&3; \(script)", lab.directory.file("commands")]
        return try await RunningCommand.start(in: lab.uplink.namespace) { try LabProcess("sh", words) }
    }

    /// The first outage, as soon as it was found out who began it: that is before its evidence is gathered.
    private func outage(_ lab: ServeLab) async throws -> Outage {
        struct List: Decodable { let items: [Outage] }
        var found: Outage?
        _ = try await eventually(within: .seconds(90)) {
            let text = try await lab.get("/v1/outages")
            found = try JSONDecoder().decode(List.self, from: Data(text.utf8)).items.last
            return found?.evidence.contains { $0.phase == "during" } ?? false
        }
        return try #require(found)
    }

    @Test func `a process that runs on is named, and stays so in the history`() async throws {
        let directory = try ScratchDirectory()
        let lab = try await start(directory)
        let process = try await run("exec ip -batch $0", lab)
        let actor = try await outage(lab).actor
        #expect(actor?.pid == process.identifier)
        #expect(actor?.program == "ip")
        process.signal(SIGKILL)
        _ = try await process.result()
        #expect(try await lab.end() == 0)
        let after = try await ServeLab.start(history: directory.file("history"), on: lab.uplink, in: directory)
        #expect(try await outage(after).actor?.pid == process.identifier)
        _ = try await after.end()
    }

    @Test func `one of another PID namespace is named by the number it has here`() async throws {
        let directory = try ScratchDirectory()
        let lab = try await start(directory)
        let process = try await run("exec unshare --pid --fork --kill-child ip -batch $0", lab)
        let actor = try await outage(lab).actor
        #expect(actor?.program == "ip")
        #expect(actor.map { $0.pid > 1 && $0.pid != process.identifier } ?? false)
        process.signal(SIGKILL)
        _ = try await process.result()
        _ = try await lab.end()
    }

    @Test(
        arguments: [
            // It is gone.
            "ip route del default; exec sleep 1000",
            // It is gone, and the other has its number.
            "unshare --pid --fork ip route del default; exec sleep 1000",
            // Both have its number.
            "exec unshare --pid --fork --kill-child ip -batch $0",
        ]
    )
    func `who cannot be told for sure is not named`(script: String) async throws {
        let lab = try await start(try ScratchDirectory())
        // One that has the number 1 in its PID namespace is there from the start.
        let other = try await RunningCommand.start(in: lab.uplink.namespace) {
            try LabProcess("unshare", ["--pid", "--fork", "--kill-child", "sh", "-c", "echo; exec sleep 1000"])
        }
        _ = try await other.line()
        let process = try await run(script, lab)
        #expect(try await outage(lab).actor == nil)
        for process in [process, other] {
            process.signal(SIGKILL)
            _ = try await process.result()
        }
        _ = try await lab.end()
    }
}
