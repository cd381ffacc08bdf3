/// The records that somebody uses, by their targets.
///
/// A dictionary with targets for keys would hold each target a second time.
struct RecordTable {
    /// By the hash of the target, which few have in common.
    private var records: [Int: RecordBundle] = [:]

    subscript(target: Target) -> TargetRecord? {
        records[target.hashValue]?.all.first { $0.target == target }
    }

    mutating func insert(_ record: TargetRecord) {
        let hash = record.target.hashValue
        records[hash] = RecordBundle((records[hash]?.all ?? []) + [record])
    }

    mutating func remove(_ record: TargetRecord) {
        let hash = record.target.hashValue
        records[hash] = RecordBundle((records[hash]?.all ?? []).filter { $0 !== record })
    }
}
