/// Targets that something was heard of.
enum Touched {
    case some(RecordList)
    case everything

    init() {
        self = .some(RecordList())
    }

    /// - Parameter records: nil for all there are.
    /// - Returns: What is to be let go of outside of locks.
    mutating func add(_ records: [TargetRecord]?) -> Touched? {
        guard case .some(var list) = self else { return nil }
        guard let records else {
            defer { self = .everything }
            return self
        }
        // Not held twice while it grows.
        self = .everything
        for record in records { list.insert(record) }
        self = .some(list)
        return nil
    }

    /// - Returns: What is to be let go of outside of locks; nil when it was not there by itself.
    mutating func remove(_ record: TargetRecord) -> TargetRecord? {
        guard case .some(var list) = self else { return nil }
        self = .everything
        defer { self = .some(list) }
        return list.remove(record)
    }
}
