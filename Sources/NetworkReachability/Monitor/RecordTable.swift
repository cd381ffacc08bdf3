/// The records that somebody holds, by their targets.
///
/// A dictionary with targets for keys would hold each target a second time.
struct RecordTable {
    private struct Entry {
        weak let record: TargetRecord?
    }

    /// By the hash of the target; of the few that have the same, one after the other.
    private enum Entries {
        case one(Entry)
        case several([Entry])

        var all: [Entry] {
            switch self {
            case .one(let entry): [entry]
            case .several(let entries): entries
            }
        }

        init?(_ entries: [Entry]) {
            guard let first = entries.first else { return nil }
            self = entries.count == 1 ? .one(first) : .several(entries)
        }
    }

    private var records: [Int: Entries] = [:]

    subscript(target: Target) -> TargetRecord? {
        records[target.hashValue]?.all.lazy.compactMap(\.record).first { $0.target == target }
    }

    mutating func insert(_ record: TargetRecord) {
        let hash = record.target.hashValue
        records[hash] = Entries((records[hash]?.all ?? []) + [Entry(record: record)])
    }

    /// Forgets those of this target that nobody holds any more.
    ///
    /// - Returns: What is to be let go of outside of locks: whoever holds another may do so for the last time right now.
    mutating func forget(_ target: Target) -> [TargetRecord] {
        let hash = target.hashValue
        let living = (records[hash]?.all ?? []).compactMap(\.record)
        records[hash] = Entries((records[hash]?.all ?? []).filter { $0.record != nil })
        return living
    }
}
