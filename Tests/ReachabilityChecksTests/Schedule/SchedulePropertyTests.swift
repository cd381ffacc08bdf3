import TestSupport
import Testing

@testable import ReachabilityChecks

/// Random events in any order. `SimulatedLine` checks that rounds never overlap and that no timer is set to the past.
@Suite struct SchedulePropertyTests {
    private static func change(_ line: inout SimulatedLine, _ chance: inout SeededGenerator) {
        func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &chance)] }
        line.verdict = pick([.fine, .fine, .silent, .refused, .captive, .slow, .half])
        line.finding = pick([.silent, .fresh(age: .seconds(pick([0, 10, 100]))), .trouble(.stalled)])
        line.length = .milliseconds(pick([0, 1, 300, 3400]))
        switch pick(Array(0..<8)) {
        case 0: line.path(isMetered: pick([false, true]))
        case 1: line.path(obstacle: .unplugged)
        case 2: line.send(.portalChanged)
        case 3: line.send(.resolverChanged)
        case 4: line.send(.resumed)
        case 5: line.send(.timer)
        default: break
        }
        line.advance(by: .milliseconds(pick([0, 1, 100, 250, 1000, 5000, 60_000, 1_000_000])))
    }

    @Test(arguments: [false, true], [false, true])
    func `no verdict is notified twice, and a waiting caller is answered`(contactsOthers: Bool, isAwaited: Bool) {
        var chance = SeededGenerator(seed: 17)
        for seed in 0..<300 {
            var line = SimulatedLine(.init(contactsOthers: contactsOthers, isAwaited: isAwaited), seed: UInt64(seed))
            line.path()
            for _ in 0..<100 { Self.change(&line, &chance) }
            for (one, other) in zip(line.notified, line.notified.dropFirst()) where one.isSame(as: other) {
                Issue.record("\(one.failurePoint) reported twice, seed \(seed)")
            }
            // When no events follow, every caller has an answer, and the line works in the end.
            (line.verdict, line.finding, line.length) = (.fine, .silent, .milliseconds(100))
            line.path()
            line.forgetLog()
            line.advance(by: .seconds(5))
            #expect(line.answers.first == (isAwaited ? .fine : nil), "seed \(seed)")
            #expect(line.schedule.notified == .fine && line.schedule.state == .works, "seed \(seed)")
            guard line.gaps.allSatisfy({ $0 >= .seconds(1) }) else {
                Issue.record("rounds too close: \(line.gaps), seed \(seed)")
                return
            }
        }
    }

    @Test func `unexpected events have no effect`() {
        var line = SimulatedLine()
        line.send(.timer)
        line.send(.observed(.trouble(.stalled)))
        line.send(.roundEnded(.refused, ProbeCost()))
        line.send(.resumed)
        #expect(line.log.isEmpty)
        line.path()
        line.advance(by: .seconds(1))
        #expect(line.notified == [.fine])
    }
}
