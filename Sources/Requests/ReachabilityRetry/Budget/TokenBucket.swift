/// What is left of a host's budget.
struct TokenBucket {
    private let capacity: Int
    private(set) var tokens: Int

    init(_ budget: RetryBudget) {
        capacity = budget.capacity
        tokens = budget.capacity
    }

    var isFull: Bool { tokens == capacity }

    /// Takes tokens; false, and none taken, if there are too few.
    mutating func withdraw(_ cost: Int) -> Bool {
        guard tokens >= cost else { return false }
        tokens -= cost
        return true
    }

    /// Puts tokens back, as far as there is room.
    mutating func deposit(_ count: Int) {
        tokens += min(count, capacity - tokens)
    }
}
