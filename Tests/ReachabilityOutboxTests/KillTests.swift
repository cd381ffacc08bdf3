import Glibc
import NetworkLab
import TestSupport
import Testing

/// Processes that are killed at random moments. OUTBOX_KILLS is their number, OUTBOX_SEED selects the moments.
@Suite struct KillTests {
    private let file = ScratchFile()
    private static let kills = Int(environment("OUTBOX_KILLS") ?? "") ?? 10
    private static let seed = UInt64(environment("OUTBOX_SEED") ?? "") ?? 5

    @Test func `no request is lost or executed twice`() async throws {
        let server = try EffectServer(seed: Self.seed, faults: true)
        defer { server.stop() }
        try await LabThread.detached {
            var generator = SeededGenerator(seed: Self.seed)
            var (stored, unsure): (Set<String>, [String]) = ([], [])
            for round in 0..<Self.kills {
                // Requests that may not have been stored are added again, as a program would do.
                let keys = unsure + (0..<10).map { "\(round)-\($0)" }
                let moment = Duration.microseconds(Int.random(in: 0..<200_000, using: &generator))
                let written = try Victim.run(file, port: server.port, keys: keys, killAfter: moment)
                stored.formUnion(written)
                unsure = keys.filter { !written.contains($0) }
                // Some processes may finish. Otherwise the backlog would grow on a slow machine.
                if round % 10 == 9 {
                    stored.formUnion(try Victim.run(file, port: server.port, keys: unsure, killAfter: nil))
                    unsure = []
                }
            }
            stored.formUnion(try Victim.run(file, port: server.port, keys: unsure, killAfter: nil))
            let counts = server.counts
            #expect(stored.count == Self.kills * 10)
            #expect(stored.filter { counts.effects[$0] == nil }.isEmpty, "a request was lost")
            #expect(counts.effects.filter { $0.value != 1 }.isEmpty, "a request was executed twice")
            #expect(counts.conflicts.isEmpty, "two requests have the same key")
            #expect(Set(counts.effects.keys) == stored)
            print("kills \(Self.kills), requests \(stored.count), sent \(counts.requests)")
        }
    }

    private static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}

/// Several processes that use one file.
@Suite struct ProcessTests {
    private let file = ScratchFile()

    @Test func `two processes that add and send do not send a request twice`() async throws {
        let server = try EffectServer()
        defer { server.stop() }
        let written = try await withThrowingTaskGroup(of: Set<String>.self) { group in
            for process in 0..<2 {
                group.addTask {
                    try await LabThread.detached {
                        let keys = (0..<60).map { "\(process)-\($0)" }
                        return try Victim.run(file, port: server.port, keys: keys, killAfter: nil)
                    }
                }
            }
            return try await group.reduce(into: Set<String>()) { $0.formUnion($1) }
        }
        let counts = server.counts
        #expect(written.count == 120)
        #expect(counts.requests == 120)
        #expect(Set(counts.order) == written)
        for process in 0..<2 {
            let order = counts.order.filter { $0.hasPrefix("\(process)-") }
            #expect(order == (0..<60).map { "\(process)-\($0)" })
        }
    }
}
