import Testing

@testable import ReachabilityChecks

/// The table of the schedule, row by row.
@Suite struct ScheduleTests {
    /// Returns a line that works and whose verdict was notified.
    private func working(_ options: CheckSchedule.Options = .init(), isMetered: Bool = false) -> SimulatedLine {
        var line = SimulatedLine(options)
        line.path(isMetered: isMetered)
        line.advance(by: .seconds(1))
        line.forgetLog()
        return line
    }

    private func broken(_ options: CheckSchedule.Options = .init(), isMetered: Bool = false) -> SimulatedLine {
        var line = SimulatedLine(options)
        line.verdict = .refused
        line.path(isMetered: isMetered)
        line.advance(by: .milliseconds(100))
        return line
    }

    @Test func `a fault that the kernel reports is an obstacle if no probe is needed`() {
        #expect(CheckLine(Situation().evidence.path).obstacle == nil)
        #expect(CheckLine(Situation(reason: .noCarrier).evidence.path).obstacle?.failurePoint == .link)
        #expect(CheckLine(Situation(reason: .noRoute).evidence.path).obstacle?.failurePoint == .thisMachine)
        #expect(CheckLine(Situation(reason: .nameNotResolved).evidence.path).obstacle == nil)
        #expect(!CheckLine(Situation().evidence.path).isMetered)
        #expect(CheckLine(Situation().evidence.path, isMetered: true).isMetered)
    }

    // MARK: Changes

    @Test func `the first round starts immediately`() {
        var line = SimulatedLine()
        #expect(line.schedule.state == .unknown)
        line.path()
        #expect(line.rounds.map(\.time) == [.zero])
        line.advance(by: .seconds(1))
        #expect(line.notified == [.fine] && line.schedule.state == .works)
    }

    @Test(arguments: [ScheduleEvent.portalChanged, .resolverChanged, .resumed])
    func `a change settles before a round`(event: ScheduleEvent) {
        var line = working()
        line.advance(by: .seconds(1))
        let start = line.now
        line.send(event)
        #expect(line.schedule.state == .unknown)
        line.advance(by: .seconds(1))
        #expect(line.rounds.map(\.time) == [start + .milliseconds(250)])
        #expect(line.notified.isEmpty)
    }

    @Test func `anchors are queried some time after a change`() {
        var delays: Set<Duration> = []
        for seed in 0..<20 {
            var line = SimulatedLine(.init(contactsOthers: true), seed: UInt64(seed))
            line.path()
            guard case .full(let delay)? = line.rounds.first?.kind else {
                Issue.record("\(line.rounds)")
                return
            }
            #expect(delay >= .zero && delay <= .milliseconds(250))
            delays.insert(delay)
        }
        #expect(delays.count > 10)
    }

    @Test func `results about an earlier path are void`() {
        var line = working()
        line.advance(by: .seconds(10))
        line.length = .seconds(3)
        line.send(.resumed)
        line.advance(by: .seconds(1))
        line.verdict = .silent
        line.path()
        #expect(line.log.contains { $0.action == .cancelRound })
        line.advance(by: .seconds(1))
        #expect(line.rounds.count == 2 && line.notified.isEmpty)
        line.advance(by: .seconds(10))
        #expect(line.notified == [.silent])
    }

    @Test func `many changes cause one round`() {
        var line = working()
        line.advance(by: .seconds(1))
        for _ in 0..<100 {
            line.path()
            line.advance(by: .milliseconds(100))
        }
        #expect(line.rounds.isEmpty)
        line.advance(by: .seconds(1))
        #expect(line.rounds.count == 1)
    }

    @Test func `a refusal by the kernel is notified immediately without a packet`() {
        var line = working()
        line.advance(by: .seconds(1))
        line.forgetLog()
        line.path(obstacle: .unplugged)
        #expect(line.notified == [.unplugged] && line.schedule.state == .broken(.link))
        line.send(.resolverChanged)
        line.advance(by: .seconds(86_400))
        #expect(line.rounds.isEmpty && line.observations.isEmpty)
        line.path()
        line.advance(by: .seconds(1))
        #expect(line.rounds.count == 1)
    }

    // MARK: Success

    @Test func `a waiting caller is answered by the first success, and a listener by the second`() {
        var line = broken(.init(isAwaited: true))
        #expect(line.notified == [.refused] && line.answers.isEmpty)
        line.verdict = .fine
        line.advance(to: .milliseconds(3100))
        #expect(line.answers.first == .fine)
        let first = line.log.first { $0.action == .answer(.fine) }?.time
        line.advance(by: .seconds(10))
        let second = line.log.first { $0.action == .notify(.fine) }?.time
        #expect(line.notified == [.refused, .fine])
        if let first, let second { #expect(second - first >= .seconds(2) && second - first < .seconds(3)) }
    }

    @Test func `one success is not a recovery`() {
        var line = broken()
        line.verdict = .fine
        while line.rounds.count < 2 { line.advance(by: .milliseconds(10)) }
        line.advance(by: .milliseconds(100))
        line.verdict = .refused
        line.advance(by: .seconds(10))
        #expect(line.notified == [.refused])
    }

    // MARK: The target works

    @Test func `with passive proof no packet is sent`() {
        var line = working()
        line.finding = .fresh(age: .seconds(5))
        line.advance(to: .seconds(1000))
        #expect(line.rounds.isEmpty && line.notified.isEmpty)
        #expect(
            zip(line.observations, line.observations.dropFirst()).allSatisfy {
                $1 - $0 <= .milliseconds(30_001) && $1 - $0 >= .seconds(30)
            }
        )
        #expect(line.observations.count == 33)
    }

    @Test(arguments: [(false, 60), (true, 600)])
    func `without passive proof a minimal probe is sent at its interval`(isMetered: Bool, seconds: Int) {
        var line = working(isMetered: isMetered)
        line.advance(to: .seconds(6100))
        #expect(line.rounds.allSatisfy { $0.kind == .minimal })
        #expect(line.gaps.allSatisfy { $0 >= .seconds(seconds) && $0 < .seconds(seconds + 1) }, "\(line.gaps)")
        #expect(line.rounds.count >= 6000 / (seconds + 1))
        #expect(line.schedule.state == .works && line.notified.isEmpty)
    }

    @Test func `anchors are queried every 15 minutes`() {
        var line = working(.init(contactsOthers: true))
        line.advance(to: .seconds(3700))
        let full = line.rounds.filter { $0.kind != .minimal }
        #expect(full.count == 4, "\(full)")
        var metered = working(.init(contactsOthers: true), isMetered: true)
        metered.advance(to: .seconds(86_400))
        #expect(metered.rounds.allSatisfy { $0.kind == .minimal })
    }

    @Test func `a round follows the announced end of a session`() {
        var line = SimulatedLine()
        line.verdict = .made(.works, .upstreamAnswers, secondsRemaining: 100)
        line.finding = .fresh(age: .zero)
        line.path()
        line.advance(by: .milliseconds(100))
        line.advance(by: .seconds(100))
        #expect(line.rounds.map(\.time) == [.zero, .milliseconds(100_100)])
    }

    // MARK: Suspicion

    @Test func `an observed fault starts rounds immediately, and two of three decide`() {
        var line = working()
        line.finding = .trouble(.stalled)
        line.verdict = .silent
        while line.rounds.isEmpty { line.advance(by: .milliseconds(1)) }
        #expect(line.schedule.state == .suspect && line.notified.isEmpty)
        let start = line.now
        line.advance(by: .milliseconds(100))
        #expect(line.notified.isEmpty)
        line.verdict = .fine
        line.advance(to: start + .milliseconds(1100))
        #expect(line.notified.isEmpty && line.schedule.state == .suspect)
        line.verdict = .silent
        line.advance(to: start + .milliseconds(3100))
        #expect(line.notified == [.silent] && line.schedule.state == .broken(.upstream))
        #expect(line.rounds.prefix(3).map { $0.time - start } == [.zero, .seconds(1), .seconds(3)])
    }

    @Test func `an unanswered minimal probe starts rounds`() {
        var line = working()
        line.verdict = .silent
        line.advance(by: .seconds(70))
        #expect(line.rounds.first?.kind == .minimal && line.notified == [.silent])
    }

    @Test func `a fault that a host reports is accepted immediately`() {
        var line = working()
        line.finding = .trouble(.neighbourFailed)
        line.verdict = .refused
        while line.rounds.isEmpty { line.advance(by: .milliseconds(1)) }
        line.advance(by: .milliseconds(100))
        #expect(line.notified == [.refused])
    }

    @Test func `a refuted suspicion is not raised again immediately`() {
        var line = working()
        line.finding = .trouble(.stalled)
        line.advance(to: .seconds(900))
        #expect(line.rounds.filter { $0.kind != .minimal }.count == 2)
        #expect(line.notified.isEmpty && line.schedule.state == .works)
        line.advance(to: .seconds(1000))
        #expect(line.rounds.filter { $0.kind != .minimal }.count == 4)
    }

    @Test func `rounds that disagree are inconclusive`() {
        var line = working()
        line.finding = .trouble(.stalled)
        line.script = [.silent, .half, .fine]
        line.advance(to: .seconds(36))
        #expect(line.notified.first?.failurePoint == .inconclusive && line.notified.first?.reason == .notEnoughEvidence)
        #expect(line.notified.last == .fine && line.schedule.state == .works)
    }

    @Test func `one slow answer is not notified, and two are`() {
        var line = working(.init(isAwaited: true))
        line.advance(by: .seconds(10))
        line.verdict = .slow
        line.send(.resumed)
        line.advance(by: .milliseconds(400))
        #expect(line.answers == [.slow] && line.notified.isEmpty)
        line.advance(by: .seconds(2))
        #expect(line.notified == [.slow] && line.schedule.state == .works)
        line.verdict = .fine
        line.advance(by: .seconds(1000))
        #expect(line.notified == [.slow, .fine])
    }

    // MARK: The target is broken

    @Test func `rounds follow at increasing intervals`() {
        var line = broken()
        line.advance(to: .seconds(7000))
        for (number, gap) in line.gaps.enumerated() {
            let wait = Double(min(60, 1 << min(number, 6)))
            #expect(
                gap - .milliseconds(100) >= .seconds(wait * 0.75) && gap - .milliseconds(100) <= .seconds(wait * 1.25)
            )
        }
        #expect(Set(line.gaps).count > 20)
        #expect(line.notified == [.refused])
    }

    @Test func `metered rounds follow at larger intervals`() {
        var line = broken(isMetered: true)
        line.advance(to: .seconds(86_000))
        let early = zip(line.rounds, line.gaps).filter { $0.0.time > .seconds(600) && $0.0.time < .seconds(6500) }
        #expect(early.allSatisfy { $0.1 > .seconds(200) && $0.1 < .seconds(400) })
        let late = zip(line.rounds, line.gaps).filter { $0.0.time > .seconds(7300) }
        #expect(late.count > 50 && late.allSatisfy { $0.1 > .seconds(600) && $0.1 < .seconds(1200) })
    }

    @Test func `a change restarts the intervals`() {
        var line = broken()
        line.advance(to: .seconds(600))
        line.forgetLog()
        line.send(.resumed)
        line.advance(by: .seconds(4))
        #expect(line.rounds.count >= 3)
        #expect(line.notified.isEmpty)
    }

    @Test func `traffic of other programs restarts the intervals if it is newer than the failure`() {
        var line = broken()
        line.advance(to: .seconds(600))
        line.forgetLog()
        line.finding = .fresh(age: .seconds(500))
        line.advance(by: .seconds(70))
        #expect(line.rounds.count <= 2)
        line.finding = .fresh(age: .zero)
        line.verdict = .fine
        line.advance(by: .seconds(34))
        #expect(line.notified == [.fine])
    }

    @Test func `another reason is notified when it is proven or repeated`() {
        var line = broken()
        line.verdict = .silent
        while line.rounds.count < 2 { line.advance(by: .milliseconds(10)) }
        line.advance(by: .milliseconds(150))
        #expect(line.notified == [.refused])
        line.advance(by: .seconds(10))
        #expect(line.notified == [.refused, .silent])
    }

    // MARK: A captive portal

    @Test func `a portal is checked more often while a caller waits`() {
        var line = SimulatedLine()
        line.verdict = .captive
        line.path()
        line.advance(to: .seconds(7200))
        #expect(line.schedule.state == .portal)
        #expect(line.gaps.first.map { $0 > .seconds(44) && $0 < .seconds(76) } == true)
        #expect(line.gaps.last.map { $0 > .seconds(440) && $0 < .seconds(760) } == true)
        line = SimulatedLine(.init(isAwaited: true))
        line.verdict = .captive
        line.path()
        line.advance(by: .seconds(200))
        #expect(line.rounds.count >= 9)
        #expect(line.gaps.dropFirst().allSatisfy { $0 == .milliseconds(20_100) }, "\(line.gaps)")
        line.verdict = .fine
        line.advance(by: .seconds(30))
        #expect(line.answers.first == .fine && line.notified == [.captive, .fine])
    }

    @Test func `a portal is checked at the announced end of its session`() {
        var line = SimulatedLine()
        line.verdict = .made(.portal, .captive, .proven, secondsRemaining: 45)
        line.path()
        line.advance(to: .seconds(50))
        #expect(line.rounds.map(\.time) == [.zero, .milliseconds(45_100)])
        line = SimulatedLine()
        line.verdict = .made(.portal, .captive, .proven, secondsRemaining: .max)
        line.path()
        line.advance(to: .seconds(601))
        #expect(line.rounds.count == 2)
    }
}
