import Glibc
import NetworkLab
import Testing

/// What `watch` says of itself when it is asked to.
@Suite struct StatisticsTests {
    private static let numbers =
        #"reachability: messages \d+, irrelevant \d+, overruns 0, foreign 0, evaluations [1-9]\d*, "#
        + #"targets [1-9]\d*, lookups [1-9]\d*, listener calls \d+, lag: "#

    private static func isLine(_ line: Substring?, endingWith end: String) throws -> Bool {
        try line?.wholeMatch(of: Regex(numbers + end)) != nil
    }

    @Test(arguments: [["watch"], ["watch", "--json", "203.0.113.1", "203.0.113.2"]])
    func `SIGUSR1 writes the statistics to standard error and ends nothing`(arguments: [String]) async throws {
        let targets = max(1, arguments.count - 2)
        let uplink = try await Uplink.make()
        let watch = try await RunningCommand.start(arguments, in: uplink.namespace)
        for _ in 0..<targets { _ = try await watch.line() }
        watch.signal(SIGUSR1)
        #expect(try await eventually { await watch.errors.hasSuffix("\n") })
        // What is looked at anyway, a moment before a notification, has no lag; then there is another chance.
        var changes = 0
        let isTold = try await eventually {
            try await uplink.setConnected(changes % 2 == 1)
            changes += 1
            for _ in 0..<targets { _ = try await watch.line() }
            watch.signal(SIGUSR1)
            return await watch.errors.firstMatch(of: /lag: count [1-9]/) != nil
        }
        #expect(isTold)
        watch.signal(SIGTERM)
        let result = try await watch.result()
        #expect(result.status == 0)
        #expect(result.lines.count == (1 + changes) * targets)
        let lines = result.errors.split(separator: "\n")
        #expect(try Self.isLine(lines.first, endingWith: "count 0"), "\(result.errors)")
        let end = #"count [1-9]\d*, min \d+ us, p50 \d+ us, p90 \d+ us, p99 \d+ us, max \d+ us"#
        #expect(try Self.isLine(lines.last, endingWith: end), "\(result.errors)")
    }
}
