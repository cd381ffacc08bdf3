import NetworkReachability
import Testing

@testable import ReachabilityChecks

@Suite struct BudgetTests {
    @Test func `fifty probes start at once, and then twenty a second`() {
        var pace = ProbePace(rate: 20, burst: 50)
        #expect((0..<50).allSatisfy { _ in pace.start(at: .seconds(5)) == .zero })
        let wait = pace.start(at: .seconds(5))
        #expect(wait == .milliseconds(50))
        let next = pace.start(at: .seconds(5) + wait)
        #expect(next == .zero)
        var started = 0
        for step in 0..<10_000 where pace.start(at: .seconds(5) + .milliseconds(50 + step)) == .zero {
            started += 1
        }
        #expect(started == 199 || started == 200)
        #expect(pace.started == 51 + started && pace.delayed == 1 + 10_000 - started)
        // What was not used for long is no more than the burst.
        #expect((0..<51).filter { _ in pace.start(at: .seconds(1000)) == .zero }.count == 50)
    }

    @Test func `a router is made to send three errors in three seconds`() {
        var routers = RouterPatience<IPAddress>()
        let (one, other) = (Situation.gateway, Situation.hop)
        #expect((0..<5).map { _ in routers.provoke(one, at: .seconds(1)) } == [true, true, true, false, false])
        let answers = [
            routers.provoke(other, at: .seconds(1)), routers.provoke(one, at: .milliseconds(3999)),
            routers.provoke(one, at: .seconds(4)),
        ]
        #expect(answers == [true, false, true])
        #expect(routers.withheld == 3)
    }

    @Test func `a day has so many bytes, by purpose and by what they cost`() {
        var budget = CheckBudget()
        budget.spend(ProbeCost(packets: 1, bytes: 20_000), on: .idle, true, at: .seconds(10))
        #expect(!budget.allows(.idle, true, at: .seconds(11)))
        #expect(budget.allows(.idle, false, at: .seconds(11)) && budget.allows(.trouble, true, at: .seconds(11)))
        #expect(!budget.allows(.anchors, true, at: .seconds(11)) && budget.allows(.event, true, at: .seconds(11)))
        #expect(budget.renewal(of: .idle, true, at: .seconds(11)) == .seconds(86_410))
        #expect(budget.allows(.idle, true, at: .seconds(86_410)))
        #expect(budget.figures(at: .seconds(11)).today == ["idleMetered": ProbeCost(packets: 1, bytes: 20_000)])
        #expect(budget.figures(at: .seconds(86_410)).today["idleMetered"] == ProbeCost())
        #expect(budget.figures(at: .seconds(86_410)).total.bytes == 20_000)
    }
}
