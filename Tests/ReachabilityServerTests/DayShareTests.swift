import LinuxSupport
import ReachabilityLedger
import TestSupport
import Testing

@testable import ReachabilityServer
@testable import ReachabilityService

/// Charts of days of which only sums are kept.
@Suite struct DayShareTests {
    private let start = LedgerInstant(nanoseconds: 0)

    private func at(_ hours: Int) -> LedgerInstant { start + .seconds(hours * 3600) }

    private func interval(_ from: Int, _ to: Int?) -> LedgerInterval {
        LedgerInterval(TargetState(.up), from: at(from), to: to.map(at))
    }

    private func day(_ hours: [LedgerAccount: Int]) -> SettledDay {
        var day = SettledDay(start: start)
        for (account, hours) in hours { day.times[account] = Int64(hours) * 3_600_000_000_000 }
        return day
    }

    @Test func `shares follow each other, and unknown time stays empty`() {
        let shares = day([.up: 20, .us: 1, .maintenance: 2, .unknown: 1]).shares(around: [], until: at(48))
        #expect(shares.map(\.state.account) == [.up, .us, .maintenance])
        #expect(shares.map(\.start) == [at(0), at(20), at(21)])
        #expect(shares.map(\.end) == [at(20), at(21), at(23)])
    }

    @Test func `known intervals keep their times`() {
        let known = [interval(-5, 2), interval(4, 6), interval(22, nil)]
        let shares = day([.up: 10, .them: 8]).shares(around: known, until: at(30))
        #expect(shares.map(\.start) == [at(2), at(6), at(14)])
        #expect(shares.map(\.end) == [at(4), at(14), at(22)])
        #expect(shares.map(\.state.account) == [.up, .up, .them])
        // The shares of today end now.
        let today = day([.up: 10]).shares(around: [interval(8, nil)], until: at(9))
        #expect(today.map(\.end) == [at(8)])
        #expect(day([.up: 24]).shares(around: [interval(-1, nil)], until: at(24)).isEmpty)
    }

    @Test func `shares do not overlap each other or known intervals, and are not too long`() {
        var generator = SeededGenerator(seed: 18)
        for _ in 0..<200 {
            var (known, hour) = ([LedgerInterval](), -3)
            while hour < 26, known.count < 6 {
                let from = hour + Int.random(in: 0...4, using: &generator)
                hour = from + Int.random(in: 1...8, using: &generator)
                known.append(interval(from, hour))
            }
            let times = Dictionary(
                uniqueKeysWithValues: LedgerAccount.allCases.map { ($0, Int.random(in: 0...8, using: &generator)) }
            )
            let shares = day(times).shares(around: known, until: at(20))
            let all = (known + shares).sorted { $0.start < $1.start }
            for (one, next) in zip(all, all.dropFirst()) { #expect(one.end ?? at(99) <= next.start) }
            for share in shares { #expect(share.start >= start && share.end ?? at(99) <= at(20)) }
            for (account, hours) in times where account != .unknown {
                let sum = shares.filter { $0.state.account == account }.reduce(Duration.zero) {
                    $0 + $1.duration(at: at(20))
                }
                #expect(sum <= .seconds(hours * 3600))
            }
        }
    }

    @Test func `sums are assigned to the right day even if the clock drifts`() throws {
        for drift in [Duration.zero, .milliseconds(3), .milliseconds(-3)] {
            let world = try APIWorld()
            world.kernel.clock.advance(by: .seconds(4 * 86400))
            let snapshot = world.service.snapshot
            let first = DayCalendar.number(of: snapshot.now, snapshot) - 2
            let start = snapshot.calendar.instant(atWall: .seconds(first * 86400))
            let settled = SettledDay(start: start + drift, times: [.us: .seconds(60), .up: .seconds(86340)])
            let days = DayCalendar.days(from: start - .seconds(86400), [], settled: [settled], snapshot)
            #expect(days.map(\.account) == [.unknown, .us, .unknown, .unknown])
            #expect(days[1].availability.duration(.us) == .seconds(60))
        }
    }
}
