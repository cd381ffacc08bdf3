import Glibc
import NetworkLab
import TestSupport
import Testing

@testable import ReachabilityHTTP

/// The shared clients `RetryingHTTPClient.shared` and `URLSession.shared`, each in a separate process. The path
/// between two network namespaces is lost and returns.
@Suite(.timeLimit(.minutes(15))) struct DefaultClientTests {
    private static let clients = ["http", "session"]

    private let lab: LossyCable

    init() throws {
        lab = try LossyCable()
    }

    /// The lines that the program has printed.
    private static func lines(_ process: LabProcess) -> [String] {
        String(decoding: process.drain(), as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private static func waits(_ process: LabProcess) async throws -> Bool {
        try await eventually(every: .milliseconds(1)) { lines(process).contains("waits") }
    }

    private static func end(_ process: LabProcess) async throws -> [String] {
        try await waitUntil(every: .milliseconds(1)) {
            lines(process).last.map { $0.hasPrefix("status") || $0.hasPrefix("ended") } ?? false
        }
        return lines(process)
    }

    private func start(_ client: String, _ method: String) throws -> LabProcess {
        try lab.client.start(BuiltProgram.path("ReadmeClient"), [client, method, lab.url])
    }

    @Test(arguments: clients, LossyCable.Loss.allCases)
    func `a request waits for the path and is sent at once when the path returns`(
        client: String,
        loss: LossyCable.Loss
    ) async throws {
        let faults = try lab.faults()
        for round in 0..<3 {
            try lab.lose(loss)
            let process = try start(client, "POST")
            #expect(try await Self.waits(process))
            try await Task.sleep(for: .milliseconds(100 * round))
            try lab.restore(loss)
            let back = ContinuousClock.now
            let lines = try await Self.end(process)
            #expect(lines.last == "status 200" && faults.received.count == round + 1)
            #expect(lines.filter { $0.hasPrefix("attempt") }.count == 2, "\(lines)")
            #expect(
                lines.first { $0.hasPrefix("attempt") }?.hasPrefix("attempt: never sent: cannot send the request")
                    == true
            )
            let arrival = try #require(faults.received.last?.time)
            // Without a notification the next attempt would be the probe after a minute.
            #expect(arrival - back < .seconds(30))
        }
        faults.stop()
        lab.close()
    }

    @Test func `a connection attempt ends with the loss of carrier and is repeated when carrier returns`()
        async throws
    {
        let faults = try lab.faults()
        // The server does not answer. The kernel does not detect this.
        try lab.server.ip("addr del 10.8.0.2/32 dev lo")
        let process = try start("http", "POST")
        try await waitUntil(every: .milliseconds(5)) { try lab.isConnecting() }
        try lab.lose(.carrier)
        #expect(try await Self.waits(process))
        try lab.server.ip("addr add 10.8.0.2/32 dev lo")
        try lab.restore(.carrier)
        let back = ContinuousClock.now
        let lines = try await Self.end(process)
        #expect(lines.last == "status 200" && faults.received.count == 1)
        #expect(lines.filter { $0.hasPrefix("attempt: never sent: cannot send the request") }.count == 1, "\(lines)")
        let arrival = try #require(faults.received.last?.time)
        #expect(arrival - back < .seconds(30))
        faults.stop()
        lab.close()
    }
}
