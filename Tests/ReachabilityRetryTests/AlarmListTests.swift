import Testing

@testable import ReachabilityRetry

/// The alarms that are set, and the tasks that are woken.
@Suite struct AlarmListTests {
    @Test func `a sleeper that is due at or after an existing alarm sets no alarm`() {
        var list = AlarmList<String>()
        let (one, other) = (list.makeID(), list.makeID())
        var sets = [list.sleep(one, until: .seconds(5), signal: "one")]
        sets.append(list.sleep(other, until: .seconds(5), signal: "other"))
        list.leave(one)
        // An alarm cannot be cancelled. It serves later sleepers.
        sets.append(list.sleep(one, until: .seconds(8), signal: "one"))
        sets.append(list.sleep(one, until: .seconds(4), signal: "one"))
        #expect(sets == [true, false, false, true])
    }

    @Test func `an alarm wakes all due sleepers and the one that sets the next alarm`() {
        var list = AlarmList<String>()
        let ids = (0..<4).map { _ in list.makeID() }
        let sets = zip(ids, [5, 5, 7, 9]).map { list.sleep($0, until: .seconds($1), signal: "until \($1)") }
        #expect(sets == [true, false, false, false])
        var woken = [list.ring(.seconds(5))]
        let again = list.sleep(ids[2], until: .seconds(7), signal: "until 7")
        list.leave(ids[2])
        // A task that has left is skipped.
        woken.append(list.ring(.seconds(7)))
        let last = list.sleep(ids[3], until: .seconds(9), signal: "until 9")
        woken.append(list.ring(.seconds(9)))
        #expect(again && last)
        #expect(woken == [["until 5", "until 5", "until 7"], ["until 9"], ["until 9"]])
    }

    @Test func `an alarm without due sleepers wakes no sleeper`() {
        var list = AlarmList<String>()
        let id = list.makeID()
        var sets = [list.sleep(id, until: .seconds(1), signal: "gone")]
        list.leave(id)
        var woken = [list.ring(.seconds(1))]
        sets.append(list.sleep(id, until: .seconds(2), signal: "back"))
        woken.append(list.ring(.seconds(2)))
        #expect(sets == [true, true] && woken == [[], ["back"]])
    }

    @Test func `earlier alarms do not cause a later one to be set again`() {
        var list = AlarmList<String>()
        let (late, soon) = (list.makeID(), list.makeID())
        var sets = [list.sleep(late, until: .seconds(300), signal: "late")]
        var woken: [[String]] = []
        for time in 1...3 {
            sets.append(list.sleep(soon, until: .seconds(time), signal: "soon"))
            woken.append(list.ring(.seconds(time)))
        }
        woken.append(list.ring(.seconds(300)))
        #expect(sets == [true, true, true, true])
        #expect(woken == [["soon"], ["soon"], ["soon"], ["late"]])
    }

    @Test func `a new wake-up time replaces the earlier one`() {
        var list = AlarmList<String>()
        let id = list.makeID()
        var sets = [list.sleep(id, until: .seconds(3), signal: "first")]
        sets.append(list.sleep(id, until: .seconds(8), signal: "second"))
        var woken = [list.ring(.seconds(3))]
        // The task must set its own alarm now.
        sets.append(list.sleep(id, until: .seconds(8), signal: "second"))
        woken.append(list.ring(.seconds(8)))
        #expect(sets == [true, false, true] && woken == [["second"], ["second"]])
    }

    @Test func `the next sleeper is woken if the one that was to set the alarm leaves or sleeps for longer`() {
        var list = AlarmList<String>()
        let ids = (0..<3).map { _ in list.makeID() }
        for (id, time) in zip(ids, [5, 6, 7]) { _ = list.sleep(id, until: .seconds(time), signal: "until \(time)") }
        #expect(list.unserved == nil)
        #expect(list.ring(.seconds(5)) == ["until 5", "until 6"])
        #expect(list.sleep(ids[1], until: .seconds(8), signal: "until 8") && list.unserved == "until 7")
        list.leave(ids[2])
        #expect(list.unserved == nil && list.ring(.seconds(8)) == ["until 8"])
    }
}
