import Testing

@testable import ReachabilityChecks

/// The cost of a day.
@Suite struct SimulatedDayTests {
    private static let day = Duration.seconds(86_400)

    private func day(
        _ verdict: CheckVerdict = .fine,
        _ finding: PassiveFinding = .silent,
        isMetered: Bool,
        contactsOthers: Bool = false
    ) -> SimulatedLine {
        var line = SimulatedLine(.init(contactsOthers: contactsOthers))
        (line.verdict, line.finding) = (verdict, finding)
        line.path(isMetered: isMetered)
        line.advance(by: .milliseconds(200))
        line.forgetLog()
        line.advance(by: Self.day)
        return line
    }

    @Test(arguments: [false, true], [false, true])
    func `traffic of other programs makes a day cheap`(isMetered: Bool, contactsOthers: Bool) {
        let line = day(.fine, .fresh(age: .seconds(3)), isMetered: isMetered, contactsOthers: contactsOthers)
        #expect(line.rounds.isEmpty && line.notified.isEmpty)
        #expect(line.observations.count <= 2880 && line.observations.count > 2870)
        #expect(line.log.allSatisfy { if case .arm = $0.action { true } else { $0.action == .observe } })
        #expect(line.spent(on: .idle).packets == 0)
    }

    @Test func `a day without traffic costs minimal probes`() {
        let line = day(isMetered: false)
        #expect(line.notified.isEmpty)
        #expect(line.rounds.count > 1400 && line.rounds.allSatisfy { $0.kind == .minimal })
        #expect(line.spent(on: .idle).bytes <= 250_000)
        let metered = day(isMetered: true, contactsOthers: true)
        #expect(metered.rounds.count > 140 && metered.spent(on: .idle, isMetered: true).bytes <= 25_000)
    }

    @Test func `a day without traffic costs anchor rounds`() {
        let line = day(isMetered: false, contactsOthers: true)
        #expect(line.rounds.filter { $0.kind != .minimal }.count >= 94)
        #expect(line.spent(on: .idle).bytes <= 250_000 && line.spent(on: .anchors).bytes <= 1_600_000)
    }

    @Test(arguments: [false, true], [CheckVerdict.refused, .silent, .captive])
    func `a day of a fault stays within its budget`(isMetered: Bool, verdict: CheckVerdict) {
        let line = day(verdict, isMetered: isMetered, contactsOthers: true)
        let bytes = line.spent(on: .trouble, isMetered: isMetered).bytes
        #expect(bytes <= (isMetered ? 500_000 : 6_000_000), "\(bytes)")
        #expect(line.rounds.count > 90)
    }

    @Test func `rounds stop for the day when the budget is used up`() {
        var line = SimulatedLine(.init(contactsOthers: true))
        line.verdict = .refused
        line.cost = { _ in ProbeCost(packets: 100, bytes: 50_000) }
        line.path(isMetered: true)
        line.advance(by: .milliseconds(200))
        line.forgetLog()
        line.advance(to: .seconds(80_000))
        #expect(line.rounds.count == 10 && line.spent(on: .trouble, isMetered: true).bytes == 500_000)
        // Events still start rounds.
        line.send(.resolverChanged)
        line.advance(by: .seconds(1))
        #expect(line.rounds.count == 11)
        line.verdict = .fine
        line.send(.resumed)
        line.advance(by: .seconds(10))
        #expect(line.notified == [.fine])
    }

    @Test func `the next day starts with a new budget`() {
        var line = SimulatedLine()
        line.verdict = .refused
        line.cost = { _ in ProbeCost(packets: 100, bytes: 50_000) }
        line.path(isMetered: true)
        line.advance(to: .seconds(86_000))
        line.forgetLog()
        line.advance(to: .seconds(90_000))
        #expect(!line.rounds.isEmpty)
    }
}
