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

    mutating func remove(_ record: TargetRecord) {
        guard let position = positions.removeValue(forKey: ObjectIdentifier(record)) else { return }
        let last = all.removeLast()
        guard last !== record else { return }
        positions[ObjectIdentifier(last)] = position
        all[position] = last
    }
}
