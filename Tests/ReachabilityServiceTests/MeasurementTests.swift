import KernelLab
import LinuxSupport
import NetworkReachability
import ReachabilityChecks
import ReachabilityLedger
import ServiceLab
import Testing

@testable import ReachabilityService

/// Thresholds of latency, loss and jitter, and bursts.
@Suite struct MeasurementTests {
    /// A service with a fake kernel and clock, and the checked target `erp` with a threshold of loss over a minute.
    private struct World: ServiceWorld {
        let kernel = FakeKernel.connected()
        let manager: NetworkReachabilityManager
        let service: MonitoringService

        init(loss: Double) throws {
            manager = try NetworkReachabilityManager(kernel: kernel)
            service = MonitoringService(clock: .fake(kernel.clock), makeProber: { _, _ in SilentProber() })
            var settings = CheckSettings([.init(nil)])
            settings.thresholds = [.loss: Threshold(limit: loss, window: .seconds(60))]
            service.insert(ServiceTarget(name: "erp", host: nil, checks: settings), manager)
            flush()
        }

        /// Ends a check five seconds after the last one.
        func find(_ finding: CheckFinding) {
            guard let turn = service.state.withLock({ $0.checks["erp"]?.turn }) else { return }
            kernel.clock.advance(by: .seconds(5))
            _ = service.take(finding, of: "erp", turn, from: kernel.clock.boot, to: kernel.clock.boot)
            flush()
        }
    }

    private static func at(_ seconds: Int64) -> LedgerInstant { LedgerInstant(nanoseconds: seconds * 1_000_000_000) }

    private static func window(_ thresholds: [Measure: Double], burst: BurstSettings? = nil) throws -> MeasurementWindow
    {
        var settings = CheckSettings([.init(nil)])
        settings.thresholds = thresholds.mapValues { Threshold(limit: $0, window: .seconds(600)) }
        settings.burst = burst
        return try #require(MeasurementWindow(settings))
    }

    private static let good = CheckFinding("works", "targetAnswers", sentence: "it answers", latency: .milliseconds(5))

    @Test func `a target is degraded while the median latency of the window is above its threshold`() throws {
        var window = try Self.window([.latency: 200_000_000])
        func judge(_ milliseconds: Int, at second: Int64) -> String {
            window.add([.milliseconds(milliseconds)], lost: 0, at: Self.at(second))
            return window.judged(Self.good, at: Self.at(second)).observation.reason
        }
        // 40 % of the window must be covered.
        for number in 0..<8 as Range<Int64> { #expect(judge(500, at: number * 30) == "targetAnswers") }
        #expect(judge(500, at: 240) == "latencyHigh")
        let finding = window.judged(Self.good, at: Self.at(240))
        #expect(finding.sentence == "the median latency of the last 10m is 500ms, above 200ms")
        #expect(finding.isDegraded)
        // The median changes when more than half of the latencies are low.
        for number in 9..<18 as Range<Int64> { #expect(judge(10, at: number * 30) == "latencyHigh", "\(number)") }
        #expect(judge(10, at: 540) == "targetAnswers")
        let bad = CheckFinding("host", "silent", sentence: "it is silent")
        let same = window.judged(bad, at: Self.at(540))
        #expect(same == bad)
    }

    @Test func `loss is the share of failed checks, and jitter the mean difference of consecutive latencies`() throws {
        var window = try Self.window([.loss: 0.05, .jitter: 50_000_000])
        for number in 0..<40 as Range<Int64> {
            window.add([.milliseconds(number % 2 == 0 ? 10 : 20)], lost: 0, at: Self.at(number * 10))
        }
        #expect(window.values == [.loss: 0, .jitter: 10_000_000])
        let good = window.judged(Self.good, at: Self.at(390))
        #expect(good == Self.good)
        for number in 40..<43 as Range<Int64> { window.add([], lost: 1, at: Self.at(number * 10)) }
        let finding = window.judged(Self.good, at: Self.at(420))
        #expect(finding.observation.reason == "lossHigh")
        #expect(finding.sentence == "the loss of the last 10m is 6.98%, above 5%")
        for number in 43..<46 as Range<Int64> {
            window.add([.milliseconds(number % 2 == 0 ? 10 : 2000)], lost: 0, at: Self.at(number * 10))
        }
        #expect(try #require(window.values[.jitter]) > 50_000_000)
        window.reset()
        #expect(window.values.isEmpty)
    }

    @Test func `a burst has values without thresholds`() throws {
        var window = try Self.window([:], burst: BurstSettings(count: 4, interval: .seconds(60)))
        for minute in 0...2 as ClosedRange<Int64> {
            window.add([.milliseconds(10), .milliseconds(14), .milliseconds(10)], lost: 1, at: Self.at(minute * 60))
        }
        #expect(window.values == [.latency: 10_000_000, .loss: 0.25, .jitter: 4_000_000])
        var settings = CheckSettings([.init(nil)])
        settings.confirm = 1
        #expect(MeasurementWindow(settings) == nil)
    }

    @Test func `a window keeps a maximum number of samples`() throws {
        var window = try Self.window([.loss: 0.5])
        for number in 0..<3000 as Range<Int64> {
            let lost = number < 2000 ? 1 : 0
            window.add([], answered: 1 - lost, lost: lost, at: Self.at(number / 2))
        }
        #expect(window.values[.loss] == 0)
    }

    @Test func `a threshold changes the state without confirmation, and at the end of the check`() throws {
        var schedule = TargetSchedule(CheckSettings([.init(nil)]), of: "erp", at: Self.at(0))
        func take(_ finding: CheckFinding, _ second: Int64) -> TargetSchedule.Change? {
            schedule.take(finding, from: Self.at(second), to: Self.at(second + 1), isDown: false)
        }
        _ = take(Self.good, 0)
        let change = try #require(take(Self.good.degraded("lossHigh", "x"), 30))
        #expect(change.instant == Self.at(31) && change.uncertainty == .zero)
        let back = try #require(take(Self.good, 60))
        #expect(back.instant == Self.at(61) && back.uncertainty == .zero)
        // Another kind of degradation needs confirmation.
        #expect(take(CheckFinding("degraded", "ipv6Broken", sentence: "x"), 90) == nil)
    }

    @Test func `a checked target is degraded by slow checks, and checks during an outage do not count`() throws {
        let world = try World(loss: 0.1)
        let (service, find) = (world.service, world.find)
        var state: String? { service.snapshot.accounting.accounts["erp"]?.ledger.current.state.description }
        for _ in 0..<10 { find(Self.good) }
        #expect(state == "up")
        let silent = CheckFinding("host", "silent", sentence: "it is silent")
        for _ in 0..<30 { find(silent) }
        #expect(state == "them.host")
        // The failures of an outage are not counted.
        find(Self.good)
        #expect(state == "up")
        for _ in 0..<9 { find(Self.good) }
        find(silent)
        #expect(state == "up")
        find(Self.good)
        #expect(service.measurements["erp"]?[.loss] == 1.0 / 12)
        find(silent)
        find(Self.good)
        #expect(state == "up.degraded")
        #expect(service.snapshot.accounting.accounts["erp"]?.ledger.current.reason == "lossHigh")
        service.endChecks()
    }

    @Test func `faults of the provider and the failures that confirm an outage are no loss`() throws {
        let world = try World(loss: 0.01)
        for _ in 0..<8 { world.find(Self.good) }
        world.find(CheckFinding("upstream", "silent", sentence: "the provider is silent"))
        world.find(Self.good)
        for _ in 0..<2 { world.find(CheckFinding("host", "silent", sentence: "it is silent")) }
        world.find(Self.good)
        #expect(world.service.measurements["erp"]?[.loss] == 0)
        #expect(world.service.snapshot.accounting.accounts["erp"]?.ledger.current.state.description == "up")
        world.service.endChecks()
    }

    @Test func `the round trips of bursts replace the latencies of checks in the history`() throws {
        let log = CheckLog()
        let instant = Self.at(1_764_000_000)
        let status = CheckStatus(finding: Self.good, begun: instant, ended: instant)
        log.note(status, of: "erp", isMeasured: false)
        log.note(EchoBurst(roundTrips: [.milliseconds(10), .milliseconds(30)], sent: 4), of: "erp", at: instant)
        var bucket = try #require(log.buckets(of: "erp").first)
        #expect(bucket.count == 1)
        #expect(bucket.fastest == .milliseconds(10) && bucket.slowest == .milliseconds(30))
        #expect(bucket.echoes?.sent == 4 && bucket.echoes?.lost == 2 && bucket.echoes?.jitter == .milliseconds(20))
        let read = try #require(CheckBucket(start: bucket.start, length: bucket.length, text: bucket.text))
        #expect(read == bucket)
        bucket.merge(read)
        #expect(bucket.echoes?.sent == 8 && bucket.echoes?.jitter == .milliseconds(20))
        // A history of an earlier version has no echoes.
        #expect(CheckBucket(start: bucket.start, length: bucket.length, text: "1;5;5;;3=1")?.echoes == nil)
        #expect(CheckBucket(start: bucket.start, length: bucket.length, text: "1;5;5;;3=1;4,-1,3")?.echoes == nil)
    }
}
