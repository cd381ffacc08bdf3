import LinuxSupport
import ReachabilityLedger
import ServiceLab
import Testing

@testable import ReachabilityService

/// The statistics of checks in the history, across restarts.
@Suite struct CheckHistoryTests {
    private let directory = HistoryDirectory()

    private func check(_ world: HistoryWorld, _ reason: String? = nil) {
        let now = world.service.snapshot.now
        let finding =
            reason.map { CheckFinding("service", $0, sentence: "it \($0)") }
            ?? CheckFinding("works", "targetAnswers", sentence: "it answers", latency: .milliseconds(2))
        world.service.checkLog.note(CheckStatus(finding: finding, begun: now, ended: now), of: "internet")
    }

    private func buckets(_ world: HistoryWorld) throws -> [CheckBucket] {
        try #require(
            try world.writer.store?.buckets(
                of: "internet",
                from: LedgerInstant(nanoseconds: .min),
                to: LedgerInstant(nanoseconds: .max),
                butOf: nil,
                since: nil,
                limit: 1000
            )
        )
    }

    @Test func `buckets are written with the marks, and an unfinished bucket is written again`() throws {
        let world = try HistoryWorld(directory)
        world.start()
        check(world)
        world.writer.mark()
        #expect(try buckets(world).map(\.count) == [1])
        check(world, "refused")
        world.writer.mark()
        #expect(try buckets(world).map(\.count) == [2])
        #expect(try buckets(world)[0].failures == ["refused": 1])
        // Another run within the same five minutes.
        world.stop()
        world.start()
        check(world)
        world.stop()
        world.start()
        #expect(try buckets(world).map(\.count) == [3])
    }

    @Test func `after 14 days buckets are merged into hours without loss`() throws {
        let world = try HistoryWorld(directory)
        world.start()
        for _ in 0..<24 {
            check(world)
            check(world, "refused")
            world.writer.mark()
            world.advance(.seconds(300))
            world.writer.mark()
        }
        #expect(try buckets(world).count == 24)
        world.advance(.seconds(15 * 86400))
        world.writer.mark()
        let hours = try buckets(world)
        #expect((2...3).contains(hours.count))
        #expect(hours.allSatisfy { $0.length == CheckBucket.long })
        #expect(hours.map(\.count).reduce(0, +) == 48)
        #expect(hours.compactMap { $0.failures["refused"] }.reduce(0, +) == 24)
        world.writer.mark()
        #expect(try buckets(world) == hours)
    }

    @Test func `buckets are deleted after the retention time`() throws {
        let world = try HistoryWorld(directory)
        var options = HistoryWriter.Options()
        options.keep = .seconds(86400)
        world.start(options)
        check(world)
        world.writer.mark()
        world.advance(.seconds(2 * 86400))
        world.writer.mark()
        #expect(try buckets(world).isEmpty)
    }
}
