import Foundation
import LinuxSupport
import NetworkLab
import TestSupport
import Testing

/// The history of `reachability serve`. SERVICE_KILLS sets the number of kills, and SERVICE_SEED their times.
@Suite struct ServeHistoryTests {
    private static let kills = EnvironmentVariable.value(of: "SERVICE_KILLS").flatMap(Int.init) ?? 10
    private static let seed = EnvironmentVariable.value(of: "SERVICE_SEED").flatMap(UInt64.init) ?? 18

    private struct Interval: Decodable {
        let state: String
        let cause: String?
        let start: String
        let end: String?
    }

    private func intervals(_ lab: ServeLab) async throws -> [Interval] {
        struct List: Decodable { let items: [Interval] }
        let text = try await lab.get("/v1/targets/internet/intervals?limit=1000")
        return try JSONDecoder().decode(List.self, from: Data(text.utf8)).items
    }

    @Test func `a kill loses no written event, and intervals never overlap`() async throws {
        let (uplink, directory) = (try await Uplink.make(), ScratchDirectory())
        var generator = SeededGenerator(seed: Self.seed)
        var known: [String: Int64] = [:]
        for _ in 0...Self.kills {
            let lab = try await ServeLab.start(history: directory.file("history.sqlite"), on: uplink, in: directory)
            let outages = Dictionary(
                uniqueKeysWithValues: try await lab.outages().map { ($0.id, $0.durationNanoseconds) }
            )
            for (id, length) in known { #expect(outages[id] == length, "\(id) is lost") }
            let intervals = try await intervals(lab)
            for (later, earlier) in zip(intervals, intervals.dropFirst()) { #expect(earlier.end == later.start) }
            #expect(intervals.last?.end != nil || intervals.count == 1)
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                try await uplink.setConnected(false)
                try await uplink.setConnected(true)
            }
            // An outage that the last kill interrupted may continue until the first evaluation of this run.
            try #require(try await eventually { try await self.intervals(lab).first?.state == "up" })
            // Events that the service reported as stored must remain.
            if Bool.random(using: &generator) {
                try await waitUntil { try await lab.object("/readyz").history["pending"] as? Int == 0 }
            }
            let told = try await lab.outages().filter { $0.end != nil }
            if try await lab.object("/readyz").history["pending"] as? Int == 0 {
                for outage in told { known[outage.id] = outage.durationNanoseconds }
            }
            let pause = Duration.microseconds(Int.random(in: 0..<20_000, using: &generator))
            async let change: Void = uplink.setConnected(false)
            try await Task.sleep(for: pause)
            #expect(try await lab.end(SIGKILL) == -SIGKILL)
            try await change
            try await uplink.setConnected(true)
        }
        #expect(!known.isEmpty)
        print("serve: \(Self.kills) kills, \(known.count) outages kept")
    }

    @Test func `a clean end is exact, and the time until the next run is unknown`() async throws {
        let (uplink, directory) = (try await Uplink.make(), ScratchDirectory())
        let file = directory.file("history.sqlite")
        let first = try await ServeLab.start(history: file, on: uplink, in: directory)
        #expect(try await first.end() == 0)
        let second = try await ServeLab.start(history: file, on: uplink, in: directory)
        #expect(try await intervals(second).map(\.state) == ["up", "unknown", "up"])
        #expect(try await intervals(second).map(\.cause) == [nil, "notObserved", nil])
        #expect(try await second.end(SIGKILL) == -SIGKILL)
        let marked = try await Command.run(["serve", "--mark-stopped", "--history", file])
        #expect(marked == CommandResult(status: 0, output: "", errors: ""))
        let third = try await ServeLab.start(history: file, on: uplink, in: directory)
        #expect(try await intervals(third).map(\.state) == ["up", "unknown", "up", "unknown", "up"])
        try await Command.run(["serve", "--mark-stopped", "--history", file])
            .expectRefusal(
                "cannot use the history \(file): another process uses it; give each process its own --history",
                status: 75
            )
        #expect(try await third.end() == 0)
    }
}

extension [String: any Sendable] {
    fileprivate var history: [String: any Sendable] { self["history"] as? [String: any Sendable] ?? [:] }
}

/// `reachability serve` with its history on a small disk. SERVICE_FULL sets for how many more seconds the disk stays full.
@Suite struct ServeDiskTests {
    private static let full = EnvironmentVariable.value(of: "SERVICE_FULL").flatMap(Int.init) ?? 0

    private let directory = ScratchDirectory()
    private let machine: PrivateMachine
    private var socket: String { directory.file("api.sock") }

    /// Creates a disk of one megabyte, and a link that can be taken down.
    init() async throws {
        machine = try await PrivateMachine.make()
        try await machine.sh(
            """
            mkdir /run/disk && mount -t tmpfs -o size=1m tmpfs /run/disk
            ip link add d0 type veth peer d1 && ip link set d1 up && ip addr add 192.0.2.2/24 dev d0
            \(Self.up)
            """
        )
    }

    private static let up = "ip link set d0 up && ip route replace default via 192.0.2.1"

    private func start() async throws -> RunningCommand {
        let command = try await machine.start(
            "serve --listen none --socket \(socket) --history /run/disk/history.sqlite"
        )
        #expect(try await command.line() == "listening at \(socket)")
        return command
    }

    private struct Readiness: Decodable {
        struct History: Decodable, Equatable {
            let state: String
            let pending: Int
        }
        let history: History
    }

    /// Waits until the service reports a state of its history.
    private func history(is condition: (Readiness.History) -> Bool) async throws -> Bool {
        try await eventually {
            let text = try await ServeLab.get("/readyz", at: socket)
            return condition(try JSONDecoder().decode(Readiness.self, from: Data(text.utf8)).history)
        }
    }

    /// Takes the link down and up, and waits until both changes are known.
    private func fail(_ number: Int) async throws {
        try await machine.sh("ip link set d0 down")
        try await waitUntil { try await open() == 1 }
        try await machine.sh(Self.up)
        try await waitUntil { try await open() == 0 }
        #expect(try await ServeLab.outages(at: socket).count == number)
    }

    private func open() async throws -> Int { try await ServeLab.outages(at: socket).count { $0.end == nil } }

    private func end(_ command: RunningCommand, by signal: CInt) async throws {
        #expect(try await command.result(after: signal).status == (signal == SIGKILL ? -SIGKILL : 0))
    }

    @Test func `events during a full disk are written when there is space again`() async throws {
        let first = try await start()
        try await fail(1)
        #expect(try await history { $0 == .init(state: "ok", pending: 0) })
        // SQLite keeps the space that it has, so it must need more.
        try await machine.sh("! dd if=/dev/zero of=/run/disk/filler bs=4096 2> /run/why && grep -q space /run/why")
        var number = 1
        while try await !history(isFullAfter: &number) {}
        try await Task.sleep(for: .seconds(Self.full))
        let lengths = try await ServeLab.outages(at: socket).map(\.durationNanoseconds)
        #expect(lengths.count == number)
        let metrics = try await ServeLab.get("/metrics", at: socket)
        #expect(metrics.contains("reachability_history_fault{fault=\"full\"} 1\n"))
        #expect(try await ServeLab.get("/healthz", at: socket) == "ok\n")
        try await machine.sh("rm /run/disk/filler")
        #expect(try await history { $0 == .init(state: "ok", pending: 0) })
        try await first.untilErrors(contain: "can be written again")
        let errors = await first.errors
        #expect(errors.ranges(of: "is full").count == 1, "\(errors)")
        #expect(errors.ranges(of: "can be written again").count == 1)
        try await end(first, by: SIGKILL)
        let second = try await start()
        #expect(try await ServeLab.outages(at: socket).map(\.durationNanoseconds) == lengths)
        try await end(second, by: SIGTERM)
    }

    /// Causes one more outage, and returns whether the service then found the disk full.
    private func history(isFullAfter number: inout Int) async throws -> Bool {
        number += 1
        try await fail(number)
        let text = try await ServeLab.get("/readyz", at: socket)
        let history = try JSONDecoder().decode(Readiness.self, from: Data(text.utf8)).history
        if history.state == "ok", number > 500 { throw LabError("the disk never filled") }
        return history.state == "full" && history.pending > 0
    }
}
