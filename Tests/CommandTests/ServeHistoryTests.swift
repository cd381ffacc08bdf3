import Foundation
import LinuxSupport
import NetworkLab
import TestSupport
import Testing

/// What `reachability serve` keeps. SERVICE_KILLS says how many kills there are, SERVICE_SEED which.
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

    @Test func `nothing that was written is lost by a kill, and no interval overlaps another`() async throws {
        let (uplink, directory) = (try await Uplink.make(), try ScratchDirectory())
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
            // What is told to be on the disk stays.
            if Bool.random(using: &generator) {
                #expect(
                    try await eventually {
                        try await lab.object("/readyz").history["pending"] as? Int == 0
                    }
                )
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

    @Test func `an end in order is exact, and the time until the next run is unknown`() async throws {
        let (uplink, directory) = (try await Uplink.make(), try ScratchDirectory())
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
                "the history \(file) cannot be used: another process uses it: give each its own --history",
                status: 75
            )
        #expect(try await third.end() == 0)
    }

    @Test func `a history that cannot be written is told, and nothing else suffers`() async throws {
        let lab = try await ServeLab.start(history: "/proc/history.sqlite")
        #expect(try await lab.object("/readyz").history["state"] as? String != "ok")
        #expect(try await lab.get("/metrics").contains(#/reachability_history_fault{fault="[a-z]+"} 1\n/#))
        try await lab.uplink.setConnected(false)
        #expect(try await eventually { try await lab.outages().count == 1 })
        #expect(await lab.command.errors.hasPrefix("reachability: the history /proc/history.sqlite cannot be used: "))
        #expect(try await lab.end() == 0)
    }
}

extension [String: any Sendable] {
    fileprivate var history: [String: any Sendable] { self["history"] as? [String: any Sendable] ?? [:] }
}
