import LinuxSupport
import NetworkReachability
import Testing

@testable import ReachabilityChecks

@Suite struct BudgetTests {
    private static let probe = ProbeGate.LineProbe(
        kind: .gateway,
        router: .init(namespace: .current, link: 2, address: Situation.gateway),
        destination: Situation.host,
        source: nil,
        mark: nil
    )

    private static func result(_ outcome: ProbeOutcome) -> ProbeResult {
        var result = Situation().gateway(outcome).evidence.results[0]
        result.cost = ProbeCost(packets: 2, bytes: 128)
        return result
    }

    @Test func `concurrent rounds share one probe of a router, whose cost counts for one of them`() async {
        let gate = ProbeGate()
        let work = Locked(0)
        let (answer, router) = AsyncStream.makeStream(of: ProbeOutcome.self)
        let results = await withTaskGroup(of: [ProbeResult].self) { group in
            for _ in 0..<4 {
                group.addTask {
                    await gate.share(Self.probe) {
                        work.withLock { $0 += 1 }
                        return [Self.result(await answer.first { _ in true } ?? .cancelled)]
                    }
                }
            }
            while gate.sharing < 3 { await Task.yield() }
            router.yield(.silent)
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(work.withLock(\.self) == 1)
        #expect(results.map(\.outcome) == Array(repeating: .silent, count: 4))
        #expect(results.map(\.cost.packets).reduce(0, +) == 2)
        #expect(gate.sharing == 0)
    }

    @Test func `a round continues with its own probe if the shared one is cancelled`() async {
        let gate = ProbeGate()
        let hasBegun = Locked(false)
        let first = Task {
            await gate.share(Self.probe) {
                hasBegun.withLock { $0 = true }
                try? await Task.sleep(for: .seconds(3600))
                return [Self.result(.cancelled)]
            }
        }
        let second = Task {
            while !hasBegun.withLock(\.self) { await Task.yield() }
            return await gate.share(Self.probe) { [Self.result(.answered)] }
        }
        while gate.sharing < 1 { await Task.yield() }
        first.cancel()
        #expect(await first.value.map(\.outcome) == [.cancelled])
        #expect(await second.value.map(\.outcome) == [.answered])
    }

    @Test func `fifty probes start at once, and then twenty per second`() {
        var pace = ProbePace(rate: 20, burst: 50)
        #expect((0..<50).allSatisfy { _ in pace.start(at: .seconds(5)) == .zero })
        let wait = pace.start(at: .seconds(5))
        #expect(wait == .milliseconds(50))
        #expect(pace.start(at: .seconds(5) + wait) == .zero)
        var started = 0
        for step in 0..<10_000 where pace.start(at: .seconds(5) + .milliseconds(50 + step)) == .zero {
            started += 1
        }
        #expect(started == 199 || started == 200)
        #expect(pace.started == 51 + started)
        // An unused rate does not exceed the burst.
        #expect((0..<51).filter { _ in pace.start(at: .seconds(1000)) == .zero }.count == 50)
    }

    @Test func `a router is made to send three errors in three seconds`() {
        var routers = RouterErrorLimit<IPAddress>()
        let (one, other) = (Situation.gateway, Situation.hop)
        #expect((0..<5).map { _ in routers.permitError(one, at: .seconds(1)) } == [true, true, true, false, false])
        let answers = [
            routers.permitError(other, at: .seconds(1)), routers.permitError(one, at: .milliseconds(3999)),
            routers.permitError(one, at: .seconds(4)),
        ]
        #expect(answers == [true, false, true])
        #expect(routers.withheld == 3)
    }

    @Test func `a day has a budget of bytes for each purpose`() {
        var budget = CheckBudget()
        budget.spend(ProbeCost(packets: 1, bytes: 20_000), on: .idle, true, at: .seconds(10))
        #expect(!budget.allows(.idle, true, at: .seconds(11)))
        #expect(budget.allows(.idle, false, at: .seconds(11)) && budget.allows(.trouble, true, at: .seconds(11)))
        #expect(!budget.allows(.anchors, true, at: .seconds(11)) && budget.allows(.event, true, at: .seconds(11)))
        #expect(budget.renewal(of: .idle, true, at: .seconds(11)) == .seconds(86_410))
        #expect(budget.allows(.idle, true, at: .seconds(86_410)))
        #expect(budget.spent(on: .idle, true, at: .seconds(11)) == ProbeCost(packets: 1, bytes: 20_000))
        #expect(budget.spent(on: .idle, true, at: .seconds(86_410)) == ProbeCost())
    }
}
