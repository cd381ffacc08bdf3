import Netlink

/// Targets that are to be looked at soon, each once, first in, first out.
struct Backlog {
    private var records: [TargetRecord] = []
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
        let part = records[first...].prefix(count)
        first += part.count
        for record in part { record.leaveLine() }
        defer { if isEmpty { self = Backlog() } }
        return Array(part)
    }
}
