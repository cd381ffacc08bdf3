/// How long to wait before a retry when there is nothing better to wait for: exponential, with full jitter.
///
/// The wait before retry number `n` (1 is the first) is drawn evenly from zero to `min(cap, base * factor^(n - 1))`:
///
/// | Retry | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 and more |
/// |---|---|---|---|---|---|---|---|---|
/// | Longest wait by default | 0.5 s | 1 s | 2 s | 4 s | 8 s | 16 s | 32 s | 60 s |
/// | Mean | 0.25 s | 0.5 s | 1 s | 2 s | 4 s | 8 s | 16 s | 30 s |
///
/// Full jitter spreads those that failed together better than a part of the wait that is fixed.
public struct Backoff: Hashable, Sendable {
    /// The longest wait before the first retry.
    public let base: Duration

    /// By what the longest wait grows with each retry.
    public let factor: Double

    /// The longest wait of all.
    public let cap: Duration

    /// Whether the wait is drawn; else it is the longest.
    public let isJittered: Bool

    /// Half a second, doubled each time, a minute at most.
    public static let standard = Backoff(checkedBase: .milliseconds(500), factor: 2, cap: .seconds(60), true)

    /// - Throws: ``RetryPolicyError`` when a duration is negative or `factor` is less than 1.
    public init(
        base: Duration = .milliseconds(500),
        factor: Double = 2,
        cap: Duration = .seconds(60),
        isJittered: Bool = true
    ) throws(RetryPolicyError) {
        try RetryPolicyError.check(base, "the base of the backoff")
        try RetryPolicyError.check(cap, "the cap of the backoff")
        try RetryPolicyError.check(factor, "the factor of the backoff", atLeast: 1)
        self.init(checkedBase: base, factor: factor, cap: cap, isJittered)
    }

    private init(checkedBase base: Duration, factor: Double, cap: Duration, _ isJittered: Bool) {
        self.isJittered = isJittered
        self.base = base
        self.factor = factor
        self.cap = cap
    }

    /// The longest wait before a retry; 1 is the first.
    public func longestWait(beforeRetry number: Int) -> Duration {
        var wait = base
        var remaining = number - 1
        // Stops at the cap, so that nothing overflows however often is retried.
        while remaining > 0, factor > 1, wait > .zero, wait < cap {
            wait = wait * factor
            remaining -= 1
        }
        return min(wait, cap)
    }

    /// The wait before a retry.
    ///
    /// - Parameter chance: Evenly distributed from 0 to 1.
    func wait(beforeRetry number: Int, chance: Double) -> Duration {
        longestWait(beforeRetry: number) * (isJittered ? chance : 1)
    }
}
