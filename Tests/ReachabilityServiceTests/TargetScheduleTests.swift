import ReachabilityLedger
import Testing

@testable import ReachabilityService

/// The state that follows from checks, and the schedule of checks.
@Suite struct TargetScheduleTests {
    private static let good = CheckFinding("works", "targetAnswers", sentence: "it answers")
    private static let refused = CheckFinding("service", "refused", sentence: "it refuses")
    private static let silent = CheckFinding("host", "silent", sentence: "it is silent")

    private static func schedule(confirm: Int = 2) -> TargetSchedule {
        var settings = CheckSettings([.init(nil)])
        settings.confirm = confirm
        return TargetSchedule(settings, of: "erp", at: at(0))
    }

    private static func at(_ seconds: Double) -> LedgerInstant { LedgerInstant(nanoseconds: Int64(seconds * 1e9)) }

    /// Applies the result of a check that took 0.1 s.
    private static func take(
        _ finding: CheckFinding,
        at seconds: Double,
        _ schedule: inout TargetSchedule,
        isDown: Bool = false
    ) -> TargetSchedule.Change? {
        schedule.take(finding, from: at(seconds), to: at(seconds + 0.1), isDown: isDown)
    }

    @Test func `a failure lies between the last good check and the end of the first bad one`() throws {
        var schedule = Self.schedule()
        #expect(Self.take(Self.good, at: 10, &schedule)?.uncertainty == .milliseconds(10_100))
        #expect(Self.take(Self.refused, at: 40, &schedule) == nil)
        #expect(schedule.next(after: Self.at(40), now: Self.at(40.1)) == Self.at(41))
        let change = try #require(Self.take(Self.refused, at: 41, &schedule))
        #expect(change.instant == Self.at(40.1))
        #expect(change.uncertainty == .milliseconds(30_100))
        #expect(schedule.next(after: Self.at(41), now: Self.at(41.1)) == Self.at(46))
    }

    @Test func `a target that limits the rate of checks is not checked more often`() {
        let limited = CheckFinding("inconclusive", "retryAfter", sentence: "it limits the rate")
        var schedule = Self.schedule()
        _ = Self.take(Self.good, at: 10, &schedule)
        for start in [40.0, 70] {
            _ = Self.take(limited, at: start, &schedule)
            #expect(schedule.next(after: Self.at(start), now: Self.at(start + 0.1)) >= Self.at(start + 15))
        }
    }

    @Test func `one good check ends an outage, with an uncertainty back to the last bad check`() throws {
        var schedule = Self.schedule(confirm: 1)
        _ = Self.take(Self.good, at: 10, &schedule)
        #expect(Self.take(Self.silent, at: 40, &schedule) != nil)
        #expect(Self.take(Self.silent, at: 45, &schedule, isDown: true) == nil)
        let change = try #require(Self.take(Self.good, at: 50, &schedule, isDown: true))
        #expect(change.instant == Self.at(50.1))
        #expect(change.uncertainty == .milliseconds(5100))
    }

    @Test func `degraded needs confirmation, and recovery does not`() throws {
        let slow = CheckFinding("degraded", "slow", sentence: "DNS answers slowly")
        var schedule = Self.schedule()
        _ = Self.take(Self.good, at: 10, &schedule)
        #expect(Self.take(slow, at: 40, &schedule) == nil)
        #expect(Self.take(Self.good, at: 41, &schedule)?.finding == Self.good)
        #expect(Self.take(slow, at: 70, &schedule) == nil)
        // A failing check and a degraded one do not confirm each other.
        #expect(Self.take(Self.silent, at: 71, &schedule) == nil)
        #expect(Self.take(slow, at: 72, &schedule) == nil)
        let change = try #require(Self.take(slow, at: 73, &schedule))
        #expect(change.finding == slow && change.instant == Self.at(72.1))
        #expect(Self.take(Self.good, at: 100, &schedule)?.finding == Self.good)
        #expect(
            CheckFinding.joined([Self.good, slow]) == slow && CheckFinding.joined([slow, Self.silent]) == Self.silent
        )
    }

    @Test func `an unconfirmed bad check changes nothing`() {
        var schedule = Self.schedule(confirm: 3)
        _ = Self.take(Self.good, at: 10, &schedule)
        #expect(Self.take(Self.silent, at: 40, &schedule) == nil)
        #expect(Self.take(Self.refused, at: 41, &schedule) == nil)
        _ = Self.take(Self.good, at: 42, &schedule)
        #expect(Self.take(Self.silent, at: 70, &schedule) == nil)
        #expect(Self.take(Self.silent, at: 71, &schedule) == nil)
        #expect(Self.take(Self.refused, at: 72, &schedule)?.instant == Self.at(70.1))
    }

    @Test func `a different failure during an outage needs confirmation`() throws {
        var schedule = Self.schedule()
        _ = Self.take(Self.good, at: 10, &schedule)
        _ = Self.take(Self.silent, at: 40, &schedule)
        _ = Self.take(Self.silent, at: 41, &schedule)
        #expect(Self.take(Self.refused, at: 46, &schedule, isDown: true) == nil)
        #expect(Self.take(Self.silent, at: 51, &schedule, isDown: true) == nil)
        #expect(Self.take(Self.refused, at: 56, &schedule, isDown: true) == nil)
        let change = try #require(Self.take(Self.refused, at: 61, &schedule, isDown: true))
        #expect(change.instant == Self.at(56.1))
        #expect(change.uncertainty == .milliseconds(5100))
    }

    @Test func `after the path returns the first check decides`() throws {
        var schedule = Self.schedule()
        _ = Self.take(Self.good, at: 10, &schedule)
        schedule.begin(at: Self.at(20))
        let change = try #require(Self.take(Self.silent, at: 20.5, &schedule, isDown: true))
        #expect(change.instant == Self.at(20))
        #expect(change.uncertainty == .zero)
        schedule.begin(at: Self.at(30))
        let end = try #require(Self.take(Self.good, at: 30.5, &schedule, isDown: true))
        #expect(end.instant == Self.at(30.6))
        #expect(end.uncertainty == .milliseconds(600))
    }

    @Test func `an outage of the path ends at its return, even if the first check is late`() throws {
        var schedule = Self.schedule()
        _ = Self.take(Self.good, at: 10, &schedule)
        schedule.end(at: Self.at(20))
        schedule.begin(at: Self.at(25), returned: .milliseconds(3))
        let end = try #require(Self.take(Self.good, at: 32, &schedule, isDown: true))
        #expect(end.instant == Self.at(25))
        #expect(end.uncertainty == .milliseconds(3))
        // A later check counts from its own end.
        #expect(Self.take(Self.good, at: 62, &schedule, isDown: true)?.instant == Self.at(62.1))
    }

    @Test func `a returned path that changes before its check counts from the change`() throws {
        var schedule = Self.schedule()
        schedule.end(at: Self.at(20))
        schedule.begin(at: Self.at(25), returned: .zero)
        schedule.begin(at: Self.at(25.5))
        let end = try #require(Self.take(Self.good, at: 32, &schedule, isDown: true))
        #expect(end.instant == Self.at(25.5))
        #expect(end.uncertainty == .milliseconds(500))
    }

    @Test func `after a failed check of a returned path the target is up at the next good check`() throws {
        var schedule = Self.schedule()
        schedule.end(at: Self.at(20))
        schedule.begin(at: Self.at(25), returned: .zero)
        #expect(Self.take(Self.silent, at: 26, &schedule, isDown: true)?.instant == Self.at(25))
        let end = try #require(Self.take(Self.good, at: 31, &schedule, isDown: true))
        #expect(end.instant == Self.at(31.1))
        // The return of a path that was lost again before a check does not affect the next path.
        schedule.begin(at: Self.at(40), returned: .zero)
        schedule.end(at: Self.at(41))
        schedule.begin(at: Self.at(45))
        #expect(Self.take(Self.good, at: 46, &schedule, isDown: true)?.instant == Self.at(46.1))
    }

    private static let unclear = CheckFinding("inconclusive", "anchorsProveNothing", sentence: "no anchor is good")

    @Test func `inconclusive checks after the path returned do not end an outage, and bound its end`() throws {
        var schedule = Self.schedule()
        schedule.end(at: Self.at(20))
        schedule.begin(at: Self.at(25), returned: .zero)
        #expect(Self.take(Self.unclear, at: 26, &schedule, isDown: true) == nil)
        #expect(schedule.next(after: Self.at(26), now: Self.at(26.1)) == Self.at(27))
        #expect(Self.take(Self.unclear, at: 27, &schedule, isDown: true) == nil)
        #expect(schedule.next(after: Self.at(27), now: Self.at(27.1)) == Self.at(32))
        let end = try #require(Self.take(Self.good, at: 32, &schedule, isDown: true))
        #expect(end.finding == Self.good && end.instant == Self.at(32.1))
        #expect(end.uncertainty == .milliseconds(7100))
        // A failing check after an inconclusive one continues the outage with its own cause.
        schedule.end(at: Self.at(40))
        schedule.begin(at: Self.at(45), returned: .zero)
        #expect(Self.take(Self.unclear, at: 46, &schedule, isDown: true) == nil)
        #expect(Self.take(Self.silent, at: 47, &schedule, isDown: true)?.instant == Self.at(45))
    }

    @Test func `inconclusive checks of a target that is down bound the end by the last check that failed`() throws {
        let other = CheckFinding("inconclusive", "notEnoughEvidence", sentence: "no evidence")
        var schedule = Self.schedule()
        _ = Self.take(Self.silent, at: 10, &schedule)
        _ = Self.take(Self.silent, at: 11, &schedule)
        for second in [16, 21, 26] {
            #expect(Self.take(second == 21 ? other : Self.unclear, at: Double(second), &schedule, isDown: true) == nil)
        }
        let end = try #require(Self.take(Self.good, at: 31, &schedule, isDown: true))
        #expect(end.instant == Self.at(31.1))
        #expect(end.uncertainty == .milliseconds(20_100))
    }

    @Test func `after a minute of inconclusive checks a target that was down is unknown`() throws {
        let other = CheckFinding("inconclusive", "notEnoughEvidence", sentence: "no evidence")
        var (returned, checked) = (Self.schedule(), Self.schedule())
        returned.end(at: Self.at(3))
        returned.begin(at: Self.at(8), returned: .zero)
        _ = Self.take(Self.silent, at: 4, &checked)
        _ = Self.take(Self.silent, at: 5, &checked)
        for second in stride(from: 10, to: 70, by: 5) {
            let finding = second % 2 == 0 ? Self.unclear : other
            #expect(Self.take(finding, at: Double(second), &returned, isDown: true) == nil)
            #expect(Self.take(finding, at: Double(second), &checked, isDown: true) == nil)
        }
        let change = try #require(Self.take(Self.unclear, at: 70, &returned, isDown: true))
        #expect(change.finding == Self.unclear && change.instant == Self.at(8) && change.uncertainty == .zero)
        let later = try #require(Self.take(Self.unclear, at: 70, &checked, isDown: true))
        #expect(later.instant == Self.at(10.1) && later.uncertainty == .milliseconds(5100))
    }

    @Test func `checks of targets are spread over the interval at fixed offsets`() {
        var settings = CheckSettings([.init(nil)])
        settings.interval = .seconds(30)
        var places: Set<Int64> = []
        for number in 0..<1000 {
            var schedule = TargetSchedule(settings, of: "target-\(number)", at: Self.at(0))
            _ = Self.take(Self.good, at: 100, &schedule)
            let first = schedule.next(after: Self.at(100), now: Self.at(100.1))
            #expect(first >= Self.at(115) && first <= Self.at(145))
            #expect(schedule.next(after: first, now: first + .milliseconds(100)) == first + .seconds(30))
            places.insert((first.nanoseconds / 1_000_000_000) % 30)
        }
        #expect(places.count == 30)
    }
}
