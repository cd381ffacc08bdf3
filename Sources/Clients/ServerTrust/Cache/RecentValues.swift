/// A bounded number of values by keys; the one not used for longest makes room.
///
/// When it is full, half of it goes at once, the older half: so each value costs a constant on average without a list through them.
struct RecentValues<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private var values: [Key: (value: Value, used: UInt64)] = [:]
    private var uses: UInt64 = 0
    private let capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
    }

    var count: Int { values.count }

    /// The value of a key, which counts as used now.
    subscript(key: Key) -> Value? {
        mutating get {
            guard let index = values.index(forKey: key) else { return nil }
            uses += 1
            values.values[index].used = uses
            return values.values[index].value
        }
    }

    mutating func insert(_ value: Value, for key: Key) {
        guard capacity > 0 else { return }
        if values.count >= capacity, values[key] == nil { makeRoom() }
        uses += 1
        values[key] = (value, uses)
    }

    mutating func remove(_ key: Key) {
        values[key] = nil
    }

    mutating func removeAll() {
        values = [:]
    }

    private mutating func makeRoom() {
        let uses = values.values.map(\.used).sorted()
        let middle = uses[uses.count / 2]
        values = values.filter { $0.value.used > middle }
    }
}
