import LinuxSupport
import ReachabilityLedger
import TestSupport
import Testing

@testable import ReachabilityService

/// The statistics of checks within a period.
@Suite struct CheckBucketTests {
    private static func good(_ latency: Duration) -> CheckFinding {
        CheckFinding("works", "targetAnswers", sentence: "it answers", latency: latency)
    }

    private static let refused = CheckFinding("service", "refused", sentence: "it refuses")
    private static let start = LedgerInstant(nanoseconds: 1_764_000_000_000_000_000)

    @Test func `a bucket begins at a multiple of its length`() {
        let bucket = CheckBucket(at: Self.start + .seconds(299))
        #expect(bucket.start == Self.start)
        #expect(CheckBucket(at: Self.start + .seconds(300)).start == Self.start + .seconds(300))
        #expect(CheckBucket(at: LedgerInstant(nanoseconds: -1)).start == LedgerInstant(nanoseconds: -300_000_000_000))
    }

    @Test func `quantiles of latencies have an error below 7 percent`() throws {
        var chance = SeededGenerator(seed: 3)
        var bucket = CheckBucket(at: Self.start)
        var latencies: [Duration] = []
        for _ in 0..<1000 {
            let latency = Duration.microseconds(
                Int64.random(in: 1...10, using: &chance) * Int64.random(in: 1...400_000, using: &chance)
            )
            latencies.append(latency)
            bucket.add(Self.good(latency))
        }
        latencies.sort()
        for share in [0.05, 0.5, 0.95] {
            let right = latencies[Int((share * 1000).rounded(.up)) - 1]
            let found = try #require(bucket.latency(share))
            #expect(found / right > 0.94 && found / right < 1.07, "\(share): \(found), not \(right)")
        }
        #expect(bucket.fastest == latencies.first)
        #expect(bucket.slowest == latencies.last)
        for microseconds: Int64 in [0, 1, 2, 3, 7, 8, 1000, 1_000_000, 60_000_000, .max / 1_000_000] {
            _ = CheckBucket.middle(of: CheckBucket.bin(of: .microseconds(microseconds)))
        }
    }

    /// A damaged history must not end the service when a chart of it is drawn.
    @Test(arguments: [Int64.min, -1, 86_400_000_000_001, .max])
    func `a latency that no check can have is ignored`(nanoseconds: Int64) throws {
        for times in ["\(nanoseconds);1000", "1000;\(nanoseconds)"] {
            let text = "1;\(times);;80=1"
            let bucket = try #require(CheckBucket(start: Self.start, length: CheckBucket.short, text: text))
            #expect(bucket.count == 1 && bucket.latency(0.95) == nil)
        }
    }

    @Test func `merged buckets equal a single bucket, also after writing and reading`() throws {
        var (one, other, all) = (CheckBucket(at: Self.start), CheckBucket(at: Self.start), CheckBucket(at: Self.start))
        for index in 1...50 {
            let finding = index.isMultiple(of: 5) ? Self.refused : Self.good(.microseconds(100 * index))
            all.add(finding)
            if index < 20 { one.add(finding) } else { other.add(finding) }
        }
        one.merge(other)
        #expect(one == all)
        #expect(all.failures == ["refused": 10])
        #expect(CheckBucket(start: all.start, length: all.length, text: all.text) == all)
        let empty = CheckBucket(at: Self.start)
        #expect(CheckBucket(start: empty.start, length: empty.length, text: empty.text) == empty)
        #expect(empty.latency(0.5) == nil)
        for text in ["", "x", ";;;;", "-1;;;;", "1;2;3"] {
            #expect(CheckBucket(start: Self.start, length: CheckBucket.short, text: text) == nil)
        }
    }

    @Test func `the log keeps the latest results and returns unwritten buckets once`() {
        let log = CheckLog()
        for index in 0..<100 {
            let instant = Self.start + .seconds(30 * index)
            log.note(CheckStatus(finding: Self.good(.milliseconds(3)), begun: instant, ended: instant), of: "erp")
        }
        log.note(CheckStatus(finding: Self.refused, begun: Self.start, ended: Self.start + .seconds(3000)), of: "erp")
        #expect(log.latest(of: "erp").count == 10)
        #expect(log.latest(of: "erp").first?.finding == Self.refused)
        #expect(log.buckets(of: "erp").map(\.count) == [10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 1])
        let unwritten = log.takeUnwritten()
        #expect(unwritten.count == 11)
        #expect(log.takeUnwritten().isEmpty)
        log.putBack(unwritten)
        #expect(log.takeUnwritten().count == 11)
        #expect(log.totals(of: "erp")?.places == ["works": 100, "service": 1])
        #expect(log.totals(of: "erp")?.durations.prefix(2) == [0, 100])
        #expect(log.totals(of: "nobody") == nil)
    }
}
