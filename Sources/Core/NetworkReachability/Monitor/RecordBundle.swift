/// A few records under one key, most often one: an array would cost more for each of very many keys.
enum RecordBundle {
    case one(TargetRecord)
    case several([TargetRecord])

    /// Nil for none.
    init?(_ records: [TargetRecord]) {
        guard let first = records.first else { return nil }
        self = records.count == 1 ? .one(first) : .several(records)
    }

    var all: [TargetRecord] {
        switch self {
        case .one(let record): [record]
        case .several(let records): records
        }
    }
}
