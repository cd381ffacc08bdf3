/// The limits that all retries of a host share, whatever their policies. Every host has its own, except for ``totalRate``.
public struct RetryLimits: Hashable, Sendable {
    /// The maximum number of retries per second: two never begin nearer to each other than 1 / `rate` seconds. It also holds when ten
    /// thousand requests wait as the network returns; with 100 per second they take 100 seconds. First attempts do not count.
    public private(set) var rate = 100.0

    /// The maximum number of retries per second at all hosts together.
    public private(set) var totalRate = 1000.0

    /// The time that requests wait for the network before one of them makes an attempt, which tests the monitor; after that twice as long,
    /// and so on. Nil for no probes. One attempt serves all requests that wait for the host: if it is answered, they go.
    public private(set) var probeInterval: Duration? = .seconds(60)

    /// The first retry after the network returns begins after a random part of this time, so that many machines behind one switch do not
    /// begin together.
    public private(set) var spread: Duration = .milliseconds(20)

    /// The maximum number of requests that wait for a retry. A further one ends at once (``RetryError/Ending/tooManyWaiting``).
    public private(set) var maximumWaiting = 100_000

    /// The number of retries in proportion to successes.
    public private(set) var budget = RetryBudget.standard

    /// 100 retries a second, 1000 at all hosts, a probe after a minute, 20 milliseconds, 100,000 waiting, ``RetryBudget/standard``.
    public static let standard = RetryLimits()

    private init() {}

    /// Limits.
    ///
    /// - Parameters:
    ///   - rate: The maximum number of retries per second at each host.
    ///   - totalRate: The maximum at all hosts together; nil for ten times `rate`.
    ///   - probeInterval: The wait for the network before the first probe; nil for no probes.
    ///   - spread: The maximum random delay of retries when the network is back.
    ///   - maximumWaiting: The maximum number of requests that wait for a host.
    ///   - budget: The costs of retries, and the earnings of successes.
    /// - Throws: ``RetryPolicyError`` if a rate or the probe interval is not positive, `spread` negative, or `maximumWaiting` less than 1.
    public init(
        rate: Double = 100,
        totalRate: Double? = nil,
        probeInterval: Duration? = .seconds(60),
        spread: Duration = .milliseconds(20),
        maximumWaiting: Int = 100_000,
        budget: RetryBudget = .standard
    ) throws(RetryPolicyError) {
        // Once an hour. A lower rate is surely a mistake, and zero would never end.
        try RetryPolicyError.check(rate, "the rate of release", atLeast: 1.0 / 3600)
        try RetryPolicyError.check(totalRate ?? rate, "the rate of release at all hosts", atLeast: 1.0 / 3600)
        if let probeInterval, probeInterval <= .zero {
            throw .invalidDuration(name: "the interval of probes", probeInterval)
        }
        try RetryPolicyError.check(spread, "the spread of release")
        try RetryPolicyError.check(Double(maximumWaiting), "the number of those that may wait", atLeast: 1)
        self.rate = rate
        self.totalRate = totalRate ?? 10 * rate
        self.probeInterval = probeInterval
        self.spread = spread
        self.maximumWaiting = maximumWaiting
        self.budget = budget
    }
}

/// The number of retries at a host in proportion to its successes: a token bucket for each host, shared by all its requests, like the retry
/// quota of the AWS SDKs (their standard and adaptive modes).
///
/// | Event | Tokens | Default |
/// |---|---|---|
/// | the bucket at first, and at most | `capacity` | 500 |
/// | a retry begins to wait | - `retryCost` | - 5 |
/// | it is not made after all: cancelled, refused, too late | + `retryCost` | + 5 |
/// | a success after any number of such retries | + `retryCost`, the cost of the last retry | + 5 |
/// | a success without a retry | + `successDeposit` | + 1 |
///
/// So a hundred retries may be in progress to a host that answers none of them; after that, one retry in five successful requests. A host
/// at which each request fails twice before it succeeds costs 5 tokens a request. A request that finds too few tokens ends at once
/// (``RetryError/Ending/budgetExhausted``). A retry after a failure with the verdict "not reachable" is free, because waiting for the network
/// is no burden to the host.
public struct RetryBudget: Hashable, Sendable {
    /// The tokens of a full bucket.
    public private(set) var capacity = 500
    /// The cost of a retry.
    public private(set) var retryCost = 5
    /// The earnings of a success without a retry.
    public private(set) var successDeposit = 1

    /// 500, 5 and 1.
    public static let standard = RetryBudget()

    private init() {}

    /// A budget. A cost of 0 is no limit.
    ///
    /// - Throws: ``RetryPolicyError`` if a number is negative.
    public init(capacity: Int = 500, retryCost: Int = 5, successDeposit: Int = 1) throws(RetryPolicyError) {
        try RetryPolicyError.check(Double(capacity), "the capacity of the budget", atLeast: 0)
        try RetryPolicyError.check(Double(retryCost), "the cost of a retry", atLeast: 0)
        try RetryPolicyError.check(Double(successDeposit), "the deposit of a success", atLeast: 0)
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
