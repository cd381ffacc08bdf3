/// When those that sleep want to be woken, and who of them keeps the time: whoever is to be woken first has a timer, and the others
/// none, for a timer costs more memory than all the rest. A value; time is told.
struct AlarmList<Bell> {
    private struct Sleeper {
        let time: Duration
        let bell: Bell
        /// Whether it has a timer, or has been rung to make one.
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
    /// - Returns: Whether it has to keep the time itself, and whose bell is to ring, so that somebody else does.
    mutating func sleep(_ id: UInt64, until time: Duration, bell: Bell) -> (keepsTime: Bool, wake: Bell?) {
        if sleepers[id]?.time != time { push((time, id)) }
        sleepers[id] = Sleeper(time: time, bell: bell, keepsTime: false)
        let wake = ring(except: id)
        return (sleepers[id]?.keepsTime == true, wake)
    }

    /// Somebody will sleep no more. Returns whose bell is to ring.
    mutating func leave(_ id: UInt64) -> Bell? {
        guard let sleeper = sleepers.removeValue(forKey: id), sleeper.keepsTime else { return nil }
        return ring(except: id)
    }

    /// Makes the earliest keep the time. Returns its bell, unless it is awake, or has a timer.
    private mutating func ring(except awake: UInt64) -> Bell? {
        while let top = heap.first {
            guard let sleeper = sleepers[top.id], sleeper.time == top.time else {
                pop()
                continue
            }
            if sleeper.keepsTime { return nil }
            sleepers[top.id]?.keepsTime = true
            return top.id == awake ? nil : sleeper.bell
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
