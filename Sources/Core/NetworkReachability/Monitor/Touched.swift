/// Targets that something was heard of.
enum Touched {
    case some(RecordList)
    case everything

    init() {
        self = .some(RecordList())
    }

    /// - Parameter records: nil for all there are.
    mutating func add(_ records: [TargetRecord]?) {
        guard case .some(var list) = self else { return }
        // Not held twice while it grows.
        self = .everything
        guard let records else { return }
        for record in records { list.insert(record) }
        self = .some(list)
    }

    mutating func remove(_ record: TargetRecord) {
        guard case .some(var list) = self else { return }
        self = .everything
        list.remove(record)
        self = .some(list)
    }
}
