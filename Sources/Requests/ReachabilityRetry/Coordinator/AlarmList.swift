/// When those that sleep want to be woken, and who of them keeps the time: whoever is to be woken first has a timer, and the others
/// none, for a timer costs more memory than all the rest. A value; time is told.
struct AlarmList<WakeSignal> {
    private struct Sleeper {
        let time: Duration
        let signal: WakeSignal
        /// Whether it has a timer, or has been woken to make one.
        var keepsTime: Bool
    }

    private var sleepers: [UInt64: Sleeper] = [:]
    /// A heap, the earliest on top; those that left or have another time now are passed over.
    private var heap: [(time: Duration, id: UInt64)] = []
    private var lastID: UInt64 = 0

    /// A number for somebody who will sleep, perhaps many times.
    mutating func makeID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// Somebody goes to sleep; a time it had before counts no more.
    ///
    /// - Returns: Whether it has to keep the time itself, and whose signal is to be sent, so that somebody else does.
    mutating func sleep(_ id: UInt64, until time: Duration, signal: WakeSignal) -> (keepsTime: Bool, wake: WakeSignal?)
    {
        if sleepers[id]?.time != time { push((time, id)) }
        sleepers[id] = Sleeper(time: time, signal: signal, keepsTime: false)
        let wake = wakeEarliest(except: id)
        return (sleepers[id]?.keepsTime == true, wake)
    }

    /// Somebody will sleep no more. Returns whose signal is to be sent.
    mutating func leave(_ id: UInt64) -> WakeSignal? {
        guard let sleeper = sleepers.removeValue(forKey: id), sleeper.keepsTime else { return nil }
        return wakeEarliest(except: id)
    }

    /// Makes the earliest keep the time. Returns its signal, unless it is awake, or has a timer.
    private mutating func wakeEarliest(except awake: UInt64) -> WakeSignal? {
        while let top = heap.first {
            guard let sleeper = sleepers[top.id], sleeper.time == top.time else {
                pop()
                continue
            }
            if sleeper.keepsTime { return nil }
            sleepers[top.id]?.keepsTime = true
            return top.id == awake ? nil : sleeper.signal
        }
        return nil
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
