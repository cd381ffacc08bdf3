import LinuxSupport
import NetworkReachabilityTesting
import ReachabilityRetry
import Testing

@testable import ReachabilityChecks

/// The advice for each verdict, and the number of checks for it.
@Suite struct CheckAdvisorTests {
    @Test(arguments: CheckPlace.allCases)
    func `each place has its advice`(place: CheckPlace) async {
        let expected: RetryAdvice =
            switch place {
            case .portal: .wait
            case .tls: .end
            case .host, .service: .backOff
            default: .followPolicy
            }
        let advisor = CheckAdvisor(.init(place: { _ in place }, untilWorks: {}, now: { .zero }))
        #expect(await advisor.advice(for: "example.org") == expected)
    }

    @Test func `concurrent and soon following callers share a check`() async {
        let (clock, count) = (ManualClock(), Locked(0))
        let advisor = CheckAdvisor(
            .init(
                place: { host in
                    count.withLock { $0 += 1 }
                    try? await Task.sleep(for: .milliseconds(100))
                    return host == nil ? .portal : .host
                },
                untilWorks: {},
                now: { clock.monotonic }
            )
        )
        let advice = await withTaskGroup(of: RetryAdvice.self) { group in
            for _ in 0..<100 { group.addTask { await advisor.advice(for: "example.org") } }
            return await group.reduce(into: [RetryAdvice]()) { $0.append($1) }
        }
        #expect(advice == Array(repeating: .backOff, count: 100) && count.withLock { $0 } == 1)
        await clock.advance(by: .seconds(4))
        #expect(await advisor.advice(for: "example.org") == .backOff && count.withLock { $0 } == 1)
        #expect(await advisor.advice(for: nil) == .wait && count.withLock { $0 } == 2)
        await clock.advance(by: .seconds(2))
        #expect(await advisor.advice(for: "example.org") == .backOff && count.withLock { $0 } == 3)
    }

    @Test func `waiting callers share one wait, which ends with the last of them`() async {
        let (begun, ended) = (Locked(0), Locked(0))
        let advisor = CheckAdvisor(
            .init(
                place: { _ in .portal },
                untilWorks: {
                    begun.withLock { $0 += 1 }
                    try? await Task.sleep(for: .seconds(600))
                    ended.withLock { $0 += 1 }
                },
                now: { .zero }
            )
        )
        let tasks = (0..<10).map { _ in Task { await advisor.waitForEnd(of: "example.org") } }
        while begun.withLock({ $0 }) == 0 || advisor.recovery.waiting < tasks.count { await Task.yield() }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        while ended.withLock({ $0 }) == 0 { await Task.yield() }
        #expect(begun.withLock { $0 } == 1 && advisor.recovery.waiting == 0)
    }
}
