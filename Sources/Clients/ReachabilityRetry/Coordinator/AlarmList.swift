/// When those that sleep want to be woken, and which alarms are set. One alarm serves all that are to be woken at its time or later, also
/// those that come after it was set: so who sleeps shortly one after the other, as most attempts do, has few set between them, for an
/// alarm costs more than all the rest. A value; time is told.
struct AlarmList<WakeSignal> {
    private struct Sleeper {
        let time: Duration
        let signal: WakeSignal
    }

    private var sleepers: [UInt64: Sleeper] = [:]
    /// A heap, the earliest on top; those that left or have another time now are passed over.
    private var heap: [(time: Duration, id: UInt64)] = []
    private var lastID: UInt64 = 0
    /// The alarms that are set and have not rung, the earliest last.
    private var alarms: [Duration] = []

    /// A number for somebody who will sleep, perhaps many times.
    mutating func makeID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// Somebody goes to sleep; a time it had before counts no more.
    ///
    /// - Returns: Whether it has to set an alarm for that time.
    mutating func sleep(_ id: UInt64, until time: Duration, signal: WakeSignal) -> Bool {
        if sleepers[id]?.time != time { push((time, id)) }
        sleepers[id] = Sleeper(time: time, signal: signal)
        if let next = alarms.last, next <= time { return false }
        alarms.append(time)
        return true
    }

    /// Somebody will sleep no more.
    mutating func leave(_ id: UInt64) {
        sleepers[id] = nil
        if sleepers.isEmpty { heap.removeAll(keepingCapacity: true) }
    }

    /// The alarm that was set for this time rings. Returns whose signals are to be sent: of all whose time has come, and of who has to set
    /// the next alarm.
    mutating func ring(_ time: Duration) -> [WakeSignal] {
        if let place = alarms.lastIndex(of: time) { alarms.remove(at: place) }
        var woken: [WakeSignal] = []
        while let top = heap.first {
            guard let sleeper = sleepers[top.id], sleeper.time == top.time else {
                pop()
                continue
            }
            guard top.time <= time else {
                if alarms.last.map({ $0 > top.time }) ?? true { woken.append(sleeper.signal) }
                break
            }
            woken.append(sleeper.signal)
            sleepers[top.id] = nil
            pop()
        }
        return woken
    }

    private mutating func push(_ entry: (time: Duration, id: UInt64)) {
        heap.append(entry)
        var child = heap.count - 1
        while child > 0, case let parent = (child - 1) / 2, heap[child].time < heap[parent].time {
            heap.swapAt(child, parent)
            child = parent
        }
    }

    private mutating func pop() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while case let left = 2 * parent + 1, left < heap.count {
            let right = left + 1
            let child = right < heap.count && heap[right].time < heap[left].time ? right : left
            guard heap[child].time < heap[parent].time else { return }
            heap.swapAt(child, parent)
            parent = child
        }
    }
}
