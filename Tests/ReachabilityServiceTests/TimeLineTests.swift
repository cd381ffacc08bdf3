import ReachabilityLedger
import TestSupport
import Testing

@testable import ReachabilityService

@Suite struct TimeLineTests {
    private let line = TimeLine(bootIdentifier: "a", boot: .seconds(100), real: .seconds(1_000_000))

    @Test func `a new time line starts at the wall clock`() {
        #expect(line.instant(at: .seconds(100)) == LedgerInstant(nanoseconds: 1_000_000_000_000_000))
        #expect(line.wall(at: line.instant(at: .seconds(101))) == .seconds(1_000_001))
        #expect(line.instant(atWall: .seconds(1_000_001)) == line.instant(at: .seconds(101)))
    }

    @Test(arguments: [-3600, 3600, 10 * 365 * 86400, -10 * 365 * 86400])
    func `a step of the wall clock changes displayed times but not instants`(seconds: Int) {
        var line = line
        let before = line.instant(at: .seconds(200))
        #expect(line.adjust(boot: .seconds(200), real: .seconds(1_000_100 + seconds)) == .seconds(seconds))
        #expect(line.instant(at: .seconds(200)) == before)
        #expect(line.wall(at: before) == .seconds(1_000_100 + seconds))
        #expect(line.adjust(boot: .seconds(300), real: .seconds(1_000_200 + seconds)) == nil)
    }

    @Test(arguments: ExtremeValues.integers) func `a time line works with any clock and displays that clock`(
        integer: Int64
    ) {
        for real in [Duration.nanoseconds(integer), .milliseconds(integer), .seconds(integer)] {
            var line = TimeLine(bootIdentifier: "a", boot: .seconds(100), real: real)
            let (start, next) = (line.instant(at: .seconds(100)), line.instant(at: .seconds(101)))
            #expect(next - start == .seconds(1))
            if real.magnitude < .seconds(9_000_000_000) { #expect(line.wall(at: next) == real + .seconds(1)) }
            #expect(line.instant(at: .seconds(10 * 365 * 86_400)) > next)
            _ = line.adjust(boot: .seconds(200), real: .zero)
            _ = (line.adjust(boot: .seconds(300), real: real), line.instant(atWall: real), line.wall(at: next))
            for last in ExtremeValues.integers {
                let later = TimeLine(
                    bootIdentifier: "b",
                    boot: .seconds(5),
                    real: real,
                    after: LedgerInstant(nanoseconds: last)
                )
                _ = later.wall(at: later.instant(at: .seconds(6)))
            }
        }
    }

    @Test func `drift changes displayed times without a reported step`() {
        var line = line
        #expect(line.adjust(boot: .seconds(200), real: .milliseconds(1_000_100_400)) == nil)
        #expect(line.wall(at: line.instant(at: .seconds(200))) == .milliseconds(1_000_100_400))
    }

    @Test func `a later boot continues the time line even if the wall clock is behind`() {
        let last = LedgerInstant(nanoseconds: 2_000_000_000_000_000)
        let next = TimeLine(bootIdentifier: "b", boot: .seconds(5), real: .seconds(0), after: last)
        #expect(next.instant(at: .seconds(5)) == last)
        #expect(next.wall(at: last) == .zero)
        let later = TimeLine(bootIdentifier: "c", boot: .seconds(5), real: .seconds(3_000_000), after: last)
        #expect(later.instant(at: .seconds(5)) == LedgerInstant(nanoseconds: 3_000_000_000_000_000))
        #expect(later.labelOffset == 0)
    }
}

extension Duration {
    fileprivate var magnitude: Duration { self < .zero ? .zero - self : self }
}
