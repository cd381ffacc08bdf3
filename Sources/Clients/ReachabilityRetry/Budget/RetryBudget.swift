/// How many retries a host may be asked for in proportion to its successes: a token bucket for each host, shared by all that
/// is retried there, as the retry quota of the AWS SDKs (their standard and adaptive modes) has it.
///
/// | Event | Tokens | Default |
/// |---|---|---|
/// | the bucket at first, and at most | `capacity` | 500 |
/// | a retry begins to wait | - `retryCost` | - 5 |
/// | it is not made after all: cancelled, refused, too late | + `retryCost` | + 5 |
/// | a success after any number of such retries | + `retryCost`, what the last of them took | + 5 |
/// | a success without | + `successDeposit` | + 1 |
///
/// So a hundred retries may be on the way to a host that answers none of them; after that, one retry in five successful requests. A host
/// at which each request fails twice before it succeeds costs 5 tokens a request. Who finds too few tokens ends at once (``RetryError/Ending/budgetExhausted``) and leaves the host alone. A retry after a failure
/// in which the monitor said "not reachable" is free: waiting for the network is no burden to the host.
public struct RetryBudget: Hashable, Sendable {
    /// The tokens of a full bucket.
    public let capacity: Int
    /// What a retry takes.
    public let retryCost: Int
    /// What a success without such a retry puts back.
    public let successDeposit: Int

    /// 500, 5 and 1.
    public static let standard = RetryBudget(checkedCapacity: 500, retryCost: 5, successDeposit: 1)

    /// - Throws: ``RetryPolicyError`` when a number is negative. A cost of 0 is no limit.
    public init(capacity: Int = 500, retryCost: Int = 5, successDeposit: Int = 1) throws(RetryPolicyError) {
        try RetryPolicyError.check(Double(capacity), "the capacity of the budget", atLeast: 0)
        try RetryPolicyError.check(Double(retryCost), "the cost of a retry", atLeast: 0)
        try RetryPolicyError.check(Double(successDeposit), "the deposit of a success", atLeast: 0)
        self.init(checkedCapacity: capacity, retryCost: retryCost, successDeposit: successDeposit)
    }

    private init(checkedCapacity capacity: Int, retryCost: Int, successDeposit: Int) {
        self.capacity = capacity
        self.retryCost = retryCost
        self.successDeposit = successDeposit
    }
}

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
