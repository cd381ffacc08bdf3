import NetworkLab
import Testing

/// Several processes on one file.
@Suite struct ProcessTests {
    private let file: ScratchFile

    init() throws {
        file = try ScratchFile()
    }
    @Test func `two that put in and send do not send anything twice`() async throws {
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
