/// Moments, the earliest first, and whom they concern. Nothing is taken out before its time: whom it concerns may be gone by then.
struct DeadlineHeap {
    private var heap: [(moment: Duration, flight: UInt64)] = []

    /// The earliest moment.
    var next: Duration? { heap.first?.moment }

    mutating func insert(_ moment: Duration, for flight: UInt64) {
        heap.append((moment, flight))
        var child = heap.count - 1
        while child > 0, heap[child].moment < heap[(child - 1) / 2].moment {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Takes the earliest out, when its moment has come.
    mutating func popDue(at now: Duration) -> (flight: UInt64, moment: Duration)? {
        guard let first = heap.first, first.moment <= now else { return nil }
        let last = heap.removeLast()
        if heap.isEmpty { return (first.flight, first.moment) }
        heap[0] = last
        var parent = 0
        while true {
            let children = min(2 * parent + 1, heap.count)..<min(2 * parent + 3, heap.count)
            guard !children.isEmpty, let child = children.min(by: { heap[$0].moment < heap[$1].moment }),
                heap[child].moment < heap[parent].moment
            else { return (first.flight, first.moment) }
            heap.swapAt(child, parent)
            parent = child
        }
    }
}
