/// What all retries of a host have in common, whichever policies they have. Every host has its own, but for ``totalRate``.
public struct RetryLimits: Hashable, Sendable {
    /// How many retries a second may begin, at most: two never begin nearer to each other than 1 / `rate` seconds. It holds also
    /// when ten thousand wait as the network returns; with 100 a second that takes 100 seconds. First attempts do not count.
    public let rate: Double

    /// How many retries a second may begin at all hosts together, at most.
    public let totalRate: Double

    /// How long those that wait for the network may do so before one of them makes an attempt, to show whether the monitor is right;
    /// after that twice as long, and so on. Nil for as long as it takes. One attempt serves all that wait for the host: where it is
    /// answered, they go.
    public let probeInterval: Duration?

    /// When the network returns, the first retry begins after a random part of this, so that many machines behind one
    /// switch do not begin together.
    public let spread: Duration

    /// How many requests may wait for a retry; who comes after that ends at once (``RetryError/Ending/tooManyWaiting``).
    public let maximumWaiting: Int

    /// How many retries there may be in proportion to successes.
    public let budget: RetryBudget

    /// 100 retries a second, 1000 at all hosts, a probe after a minute, 20 milliseconds, 100,000 waiting, ``RetryBudget/standard``.
    public static let standard = RetryLimits(
        checkedRate: 100,
        totalRate: 1000,
        probeInterval: .seconds(60),
        spread: .milliseconds(20),
        maximumWaiting: 100_000,
        budget: .standard
    )

    /// - Parameters:
    ///   - rate: How many retries a second may begin at each host.
    ///   - totalRate: The same at all hosts together; nil for ten times `rate`.
    ///   - probeInterval: How long a wait for the network lasts before the first probe; nil for no probes.
    ///   - spread: By how much retries are delayed at random when the network is back.
    ///   - maximumWaiting: How many may wait for a host.
    ///   - budget: What retries cost, and what successes earn.
    /// - Throws: ``RetryPolicyError`` when a rate or the probe interval is not positive, `spread` negative, or `maximumWaiting` less than 1.
    public init(
        rate: Double = 100,
        totalRate: Double? = nil,
        probeInterval: Duration? = .seconds(60),
        spread: Duration = .milliseconds(20),
        maximumWaiting: Int = 100_000,
        budget: RetryBudget = .standard
    ) throws(RetryPolicyError) {
        // Once an hour; less is surely meant otherwise, and zero would never end.
        try RetryPolicyError.check(rate, "the rate of release", atLeast: 1.0 / 3600)
        try RetryPolicyError.check(totalRate ?? rate, "the rate of release at all hosts", atLeast: 1.0 / 3600)
        if let probeInterval, probeInterval <= .zero {
            throw .invalidDuration(name: "the interval of probes", probeInterval)
        }
        try RetryPolicyError.check(spread, "the spread of release")
        try RetryPolicyError.check(Double(maximumWaiting), "the number of those that may wait", atLeast: 1)
        self.init(
            checkedRate: rate,
            totalRate: totalRate ?? 10 * rate,
            probeInterval: probeInterval,
            spread: spread,
            maximumWaiting: maximumWaiting,
            budget: budget
        )
    }

    private init(
        checkedRate rate: Double,
        totalRate: Double,
        probeInterval: Duration?,
        spread: Duration,
        maximumWaiting: Int,
        budget: RetryBudget
    ) {
        self.rate = rate
        self.totalRate = totalRate
        self.probeInterval = probeInterval
        self.spread = spread
        self.maximumWaiting = maximumWaiting
        self.budget = budget
    }
}

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
