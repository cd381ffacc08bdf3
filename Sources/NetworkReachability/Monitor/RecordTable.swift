/// The records that somebody holds, by their targets.
///
/// A dictionary with targets for keys would hold each target a second time.
struct RecordTable {
    private struct WeakRecord {
        weak let record: TargetRecord?
    }

    /// By the hash of the target.
    private var records: [Int: [WeakRecord]] = [:]

    subscript(target: Target) -> TargetRecord? {
        records[target.hashValue]?.lazy.compactMap(\.record).first { $0.target == target }
    }

    mutating func insert(_ record: TargetRecord) {
        records[record.target.hashValue, default: []].append(WeakRecord(record: record))
    }

    /// Forgets those of this target that nobody holds any more.
    ///
    /// - Returns: What is to be let go of outside of locks: whoever holds another may do so for the last time right now.
    mutating func forget(_ target: Target) -> [TargetRecord] {
        let hash = target.hashValue
        let living = records[hash]?.compactMap(\.record) ?? []
        records[hash]?.removeAll { $0.record == nil }
        if records[hash]?.isEmpty ?? false { records[hash] = nil }
        return living
    }
}
