import Netlink

/// Targets that are to be looked at soon, each once, first in, first out.
struct Backlog {
    private var records: [TargetRecord] = []
    private var first = 0
    private var members: Set<ObjectIdentifier> = []
    /// What was heard of them, all together.
    private(set) var burst = EventBurst()

    var isEmpty: Bool { first == records.count }

    mutating func add(_ more: some Sequence<TargetRecord>, after burst: EventBurst) {
        for record in more where members.insert(ObjectIdentifier(record)).inserted { records.append(record) }
        self.burst.add(burst)
    }

    /// Takes out at most `count`.
    mutating func next(_ count: Int) -> [TargetRecord] {
        let part = records[first...].prefix(count)
        first += part.count
        for record in part { members.remove(ObjectIdentifier(record)) }
        defer { if isEmpty { self = Backlog() } }
        return Array(part)
    }
}
