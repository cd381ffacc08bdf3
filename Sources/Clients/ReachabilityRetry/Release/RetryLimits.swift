/// The limits that all retries to a host share, whatever their policies. Each host has its own limits, except for
/// ``totalRate``.
public struct RetryLimits: Hashable, Sendable {
    /// The maximum number of retries per second to a host. Two retries start at least 1 / `rate` seconds apart. If
    /// 10,000 requests wait when the network returns, they take 100 seconds at 100 per second. First attempts do not
    /// count.
    public private(set) var rate = 100.0

    /// The maximum number of retries per second to all hosts together.
    public private(set) var totalRate = 1000.0

    /// The time that requests wait for the network before one of them makes an attempt as a probe. The time doubles
    /// after each probe. If nil, no probes are made. A probe tests whether the monitor is right that the host is not
    /// reachable. If the host responds, all waiting requests to it continue.
    public private(set) var probeInterval: Duration? = .seconds(60)

    /// The maximum delay of the first retry after the network returns. The delay is random, so that many machines
    /// behind one switch do not start at the same time.
    public private(set) var spread: Duration = .milliseconds(20)

    /// The maximum number of requests that wait for a retry at a host. A further request ends immediately with
    /// ``RetryError/Ending/tooManyWaiting``.
    public private(set) var maximumWaiting = 100_000

    /// The number of retries in proportion to successes.
    public private(set) var budget = RetryBudget.standard

    /// 100 retries per second to a host, 1000 to all hosts, the first probe after a minute, a spread of 20 ms, 100,000
    /// waiting requests, and ``RetryBudget/standard``.
    public static let standard = RetryLimits()

    private init() {}

    /// Creates limits.
    ///
    /// - Parameters:
    ///   - rate: The maximum number of retries per second to each host.
    ///   - totalRate: The maximum number of retries per second to all hosts together. If nil, ten times `rate`.
    ///   - probeInterval: The wait for the network before the first probe. If nil, no probes are made.
    ///   - spread: The maximum random delay of the first retry after the network returns.
    ///   - maximumWaiting: The maximum number of requests that wait for a retry at a host.
    ///   - budget: The budget of retries, which each retry reduces and each success increases.
    /// - Throws: ``RetryPolicyError`` if a rate is less than one per hour, the probe interval is not positive, `spread`
    ///   is negative, or `maximumWaiting` is less than 1.
    public init(
        rate: Double = 100,
        totalRate: Double? = nil,
        probeInterval: Duration? = .seconds(60),
        spread: Duration = .milliseconds(20),
        maximumWaiting: Int = 100_000,
        budget: RetryBudget = .standard
    ) throws(RetryPolicyError) {
        // One per hour. A lower rate is a mistake, and a rate of zero would never end.
        try RetryPolicyError.check(rate, "the rate of retries", atLeast: 1.0 / 3600)
        try RetryPolicyError.check(totalRate ?? rate, "the rate of retries at all hosts", atLeast: 1.0 / 3600)
        if let probeInterval, probeInterval <= .zero {
            throw .invalidDuration(name: "the probe interval", probeInterval)
        }
        try RetryPolicyError.check(spread, "the spread of retries")
        try RetryPolicyError.check(Double(maximumWaiting), "the maximum number of waiting requests", atLeast: 1)
        self.rate = rate
        self.totalRate = totalRate ?? 10 * rate
        self.probeInterval = probeInterval
        self.spread = spread
        self.maximumWaiting = maximumWaiting
        self.budget = budget
    }
}

/// The number of retries to a host in proportion to its successes: a token bucket per host, shared by all requests to
/// the host. It works like the retry quota of the AWS SDKs (standard and adaptive retry modes).
///
/// | Event | Tokens | Default |
/// |---|---|---|
/// | The initial and maximum content of the bucket | `capacity` | 500 |
/// | A retry begins to wait | - `retryCost` | - 5 |
/// | The retry is not made, because it is cancelled, refused or too late | + `retryCost` | + 5 |
/// | A success after any number of retries | + `retryCost`, the cost of the last retry | + 5 |
/// | A success without a retry | + `successDeposit` | + 1 |
///
/// By default, 100 retries to a host may be in progress without a response. After that, five successful requests pay
/// for one retry. A host at which each request fails twice before it succeeds costs 5 tokens per request. A request
/// that finds too few tokens ends immediately with ``RetryError/Ending/budgetExhausted``. A retry after a failure while
/// the monitor reports "not reachable" is free, because a request that waits for the network is no load on the host.
public struct RetryBudget: Hashable, Sendable {
    /// The number of tokens in a full bucket.
    public private(set) var capacity = 500
    /// The number of tokens that a retry costs.
    public private(set) var retryCost = 5
    /// The number of tokens that a success without a retry adds.
    public private(set) var successDeposit = 1

    /// A capacity of 500 tokens, a retry cost of 5 and a success deposit of 1.
    public static let standard = RetryBudget()

    private init() {}

    /// Creates a budget. With a `retryCost` of 0 the number of retries is not limited.
    ///
    /// - Throws: ``RetryPolicyError`` if a number is negative.
    public init(capacity: Int = 500, retryCost: Int = 5, successDeposit: Int = 1) throws(RetryPolicyError) {
        try RetryPolicyError.check(Double(capacity), "the capacity of the budget", atLeast: 0)
        try RetryPolicyError.check(Double(retryCost), "the cost of a retry", atLeast: 0)
        try RetryPolicyError.check(Double(successDeposit), "the deposit for a success", atLeast: 0)
        self.capacity = capacity
        self.retryCost = retryCost
        self.successDeposit = successDeposit
    }
}

/// The token bucket of one host.
struct TokenBucket {
    private let capacity: Int
    private(set) var tokens: Int

    init(_ budget: RetryBudget) {
        capacity = budget.capacity
        tokens = budget.capacity
    }

    var isFull: Bool { tokens == capacity }

    /// Removes tokens. Returns false, and removes none, if there are too few.
    mutating func withdraw(_ cost: Int) -> Bool {
        guard tokens >= cost else { return false }
        tokens -= cost
        return true
    }

    /// Adds tokens up to the capacity.
    mutating func deposit(_ count: Int) {
        tokens += min(count, capacity - tokens)
    }
}
