import Netlink

/// Targets that are to be looked at soon, each once, first in, first out.
struct Backlog {
    /// Those that were taken out are nil until there are more of these than of others.
    private var records: [TargetRecord?] = []
    private var first = 0
    /// What was heard of them, all together.
    private(set) var burst = EventBurst()

    var isEmpty: Bool { first == records.count }

    mutating func add(_ more: some Sequence<TargetRecord>, after burst: EventBurst) {
        for record in more where record.putInLine() { records.append(record) }
        self.burst.add(burst)
    }

    /// Forgets all.
    mutating func clear() {
        _ = next(records.count)
    }

    /// Takes out at most `count`.
    mutating func next(_ count: Int) -> [TargetRecord] {
        let end = min(first + count, records.count)
        let part = records[first..<end].compactMap(\.self)
        for position in first..<end { records[position] = nil }
        for record in part { record.leaveLine() }
        first = end
        if isEmpty {
            self = Backlog()
        } else if first > records.count / 2 {
            records.removeFirst(first)
            first = 0
        }
        return part
    }
}
