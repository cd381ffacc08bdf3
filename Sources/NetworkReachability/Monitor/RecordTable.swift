/// The records that somebody uses, by their targets.
///
/// A dictionary with targets for keys would hold each target a second time.
struct RecordTable {
    /// By the hash of the target; of the few that have the same, one after the other.
    private enum Entries {
        case one(TargetRecord)
        case several([TargetRecord])

        var all: [TargetRecord] {
            switch self {
            case .one(let record): [record]
            case .several(let records): records
            }
        }

        init?(_ records: [TargetRecord]) {
            guard let first = records.first else { return nil }
            self = records.count == 1 ? .one(first) : .several(records)
        }
    }

    private var records: [Int: Entries] = [:]

    subscript(target: Target) -> TargetRecord? {
        records[target.hashValue]?.all.first { $0.target == target }
    }

    mutating func insert(_ record: TargetRecord) {
        let hash = record.target.hashValue
        records[hash] = Entries((records[hash]?.all ?? []) + [record])
    }

    mutating func remove(_ record: TargetRecord) {
        let hash = record.target.hashValue
        records[hash] = Entries((records[hash]?.all ?? []).filter { $0 !== record })
    }
}
