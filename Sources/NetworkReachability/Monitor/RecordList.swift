/// Targets, each once, added and removed in constant time.
struct RecordList {
    private(set) var all: [TargetRecord] = []
    private var positions: [ObjectIdentifier: Int] = [:]

    var isEmpty: Bool { all.isEmpty }

    /// - Returns: Whether it was not there.
    @discardableResult
    mutating func insert(_ record: TargetRecord) -> Bool {
        let id = ObjectIdentifier(record)
        guard positions[id] == nil else { return false }
        positions[id] = all.count
        all.append(record)
        return true
    }

    /// - Returns: What is to be let go of outside of locks; nil when it was not there.
    mutating func remove(_ record: TargetRecord) -> TargetRecord? {
        guard let position = positions.removeValue(forKey: ObjectIdentifier(record)) else { return nil }
        let last = all.removeLast()
        guard last !== record else { return last }
        positions[ObjectIdentifier(last)] = position
        defer { all[position] = last }
        return all[position]
    }
}
