/// When failed work is tried again, and when no more. A value; one policy may serve any number of requests.
///
/// What happens after a failure depends on how far the request got (``FailureStage``), and on what the monitor says:
///
/// | Failure | Target | Then |
/// |---|---|---|
/// | never sent | any | retried |
/// | may have been processed | idempotent method (RFC 9110, 9.2.2) or idempotency key | retried |
/// | may have been processed | another | ends: ``RetryError/Ending/unsafeToRepeat`` |
/// | answered with 408, 425, 429, or 503 with Retry-After | any: the server says that it has not done it | retried |
/// | answered with 500, 502, 503, 504 | idempotent method or idempotency key | retried |
/// | answered with 500, 502, 503, 504 | another | ends: ``RetryError/Ending/unsafeToRepeat`` |
/// | answered with another status | any | ends: ``RetryError/Ending/notRetryable`` |
/// | nothing of the network's | any | ends: ``RetryError/Ending/notRetryable`` |
///
/// | The monitor says | The wait before the retry |
/// |---|---|
/// | anything, but the server answered with Retry-After | as long as the server asks, at most ``retryAfterCap`` |
/// | anything, but the server answered | ``backoff`` |
/// | not reachable | until it says reachable, the host answers a probe, or the deadline: no charge to the budget |
/// | not reachable because the name is not resolved | ``backoff``; cut short when the name is resolved |
/// | reachable, by another path than when the attempt began | none, once for each new path |
/// | reachable, or unknown | ``backoff``; cut short when the path changes |
///
/// An answer says more than the monitor does. A name may not exist at all, so attempts without it are limited (``attemptsUnresolved``). While the machine is
/// offline, so that no name server can be asked either, the monitor gives that as the reason, and the wait is for the network.
///
/// Every retry then passes the limits of its host, see ``RetryCoordinator``. A wait for the network that lasts is interrupted by a probe
/// (``RetryLimits/probeInterval``), and a host that asks for time gets it from all (Retry-After).
public struct RetryPolicy: Sendable {
    /// Tells how far a failed request got, from its error and from what the monitor said of the target right after; nil for
    /// an error that is not the network's or the server's, with which no retry would help.
    public typealias Classifier = @Sendable (_ error: any Error, _ verdict: RetryVerdict) -> FailureStage?

    /// The statuses that are retried unless told otherwise: 408, 425, 429, 500, 502, 503, 504.
    public static let standardStatuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]

    /// How long all attempts and waits may take together. An attempt under way at that time is cancelled. Nil only for a
    /// single attempt.
    public let deadline: Duration?

    /// How many attempts are made in all, the first included.
    public let attempts: Int

    /// How many of these may get as far as being sent.
    public let attemptsAfterSending: Int

    /// The maximum number of attempts that fail because the name of the host is not resolved although name servers can be reached. The name
    /// may be mistyped.
    public let attemptsUnresolved: Int

    /// The maximum number of attempts that the host refuses (ECONNREFUSED). No server may be running.
    public let attemptsRefused: Int

    /// The maximum time that a request waits for a path to its host, all such waits together. If nil, only the deadline limits it.
    public let pathTimeout: Duration?

    /// The waits where nothing better is to be waited for.
    public let backoff: Backoff

    /// The longest wait a server's Retry-After may ask for. Where it would pass the deadline there is no wait: it ends at once.
    public let retryAfterCap: Duration

    /// The statuses of answers that may be retried.
    public let statuses: Set<Int>

    /// The methods that may be repeated although the server may have acted; nil for the idempotent ones. A request with an idempotency
    /// key may be repeated in any case.
    public let methods: Set<RequestMethod>?

    /// Whether the first attempt, too, waits where the host is known not to be reachable, or has asked to be left alone. Requests of
    /// HTTP clients always do.
    public let waitsFirst: Bool

    /// What tells how far a failed request got.
    public let classify: Classifier

    /// Five minutes, 20 attempts, of which 3 are sent, 3 fail without the name and 3 are refused (1.5 s at most), ``Backoff/standard``,
    /// Retry-After up to a minute.
    public static let standard = RetryPolicy(
        checkedDeadline: .seconds(300),
        attempts: 20,
        attemptsAfterSending: 3,
        attemptsUnresolved: 3,
        attemptsRefused: 3,
        backoff: .standard,
        retryAfterCap: .seconds(60),
        statuses: standardStatuses,
        methods: nil,
        waitsFirst: false,
        classify: classifyRetryableErrors
    )

    /// One attempt, without a deadline, after a wait of at most 30 seconds while this machine has no path. Every status is an answer. It is
    /// the default of a `Session`, whose interceptors decide about retries.
    public static let singleAttempt = RetryPolicy(
        checkedDeadline: nil,
        attempts: 1,
        attemptsAfterSending: 1,
        attemptsUnresolved: 1,
        attemptsRefused: 1,
        pathTimeout: .seconds(30),
        backoff: .standard,
        retryAfterCap: .seconds(60),
        statuses: [],
        methods: nil,
        waitsFirst: true,
        classify: classifyRetryableErrors
    )

    /// - Throws: ``RetryPolicyError`` when a duration is negative, the deadline zero, a number of attempts less than 1, or when
    ///   there are retries without a deadline.
    public init(
        deadline: Duration? = .seconds(300),
        attempts: Int = 20,
        attemptsAfterSending: Int = 3,
        attemptsUnresolved: Int = 3,
        attemptsRefused: Int = 3,
        pathTimeout: Duration? = nil,
        backoff: Backoff = .standard,
        retryAfterCap: Duration = .seconds(60),
        statuses: Set<Int> = standardStatuses,
        methods: Set<RequestMethod>? = nil,
        waitsFirst: Bool = false,
        classify: @escaping Classifier = classifyRetryableErrors
    ) throws(RetryPolicyError) {
        if let deadline, deadline <= .zero { throw .invalidDuration(name: "the deadline", deadline) }
        try RetryPolicyError.check(Double(attempts), "the number of attempts", atLeast: 1)
        try RetryPolicyError.check(Double(attemptsAfterSending), "the number of attempts after sending", atLeast: 1)
        try RetryPolicyError.check(Double(attemptsUnresolved), "the number of attempts without the name", atLeast: 1)
        try RetryPolicyError.check(Double(attemptsRefused), "the number of refused attempts", atLeast: 1)
        if let pathTimeout { try RetryPolicyError.check(pathTimeout, "the longest wait for a path") }
        try RetryPolicyError.check(retryAfterCap, "the cap of Retry-After")
        if deadline == nil, attempts > 1 { throw .neverEnds }
        self.init(
            checkedDeadline: deadline,
            attempts: attempts,
            attemptsAfterSending: attemptsAfterSending,
            attemptsUnresolved: attemptsUnresolved,
            attemptsRefused: attemptsRefused,
            pathTimeout: pathTimeout,
            backoff: backoff,
            retryAfterCap: retryAfterCap,
            statuses: statuses,
            methods: methods,
            waitsFirst: waitsFirst,
            classify: classify
        )
    }

    package init(
        checkedDeadline deadline: Duration?,
        attempts: Int,
        attemptsAfterSending: Int,
        attemptsUnresolved: Int,
        attemptsRefused: Int = .max,
        pathTimeout: Duration? = nil,
        backoff: Backoff,
        retryAfterCap: Duration,
        statuses: Set<Int>,
        methods: Set<RequestMethod>?,
        waitsFirst: Bool,
        classify: @escaping Classifier
    ) {
        self.deadline = deadline
        self.attempts = attempts
        self.attemptsAfterSending = attemptsAfterSending
        self.attemptsUnresolved = attemptsUnresolved
        self.attemptsRefused = attemptsRefused
        self.pathTimeout = pathTimeout
        self.backoff = backoff
        self.retryAfterCap = retryAfterCap
        self.statuses = statuses
        self.methods = methods
        self.waitsFirst = waitsFirst
        self.classify = classify
    }

    /// The classifier unless told otherwise: what a ``RetryableError`` says of itself; every other error is not retried.
    public static let classifyRetryableErrors: Classifier = { error, _ in (error as? any RetryableError)?.failureStage }
}

/// What is wrong with a policy or with the settings of a coordinator; thrown when it is made, never later.
public enum RetryPolicyError: Error, Hashable, Sendable {
    /// A duration that is less than zero, or zero where time must pass.
    case invalidDuration(name: String, Duration)
    /// A number that is too small.
    case tooSmall(name: String, Double, minimum: Double)
    /// Without a deadline a retry could wait for ever for a network that does not return.
    case neverEnds
}

extension RetryPolicyError: CustomStringConvertible {
    /// One sentence: what is wrong, and what to do.
    public var description: String {
        switch self {
        case .invalidDuration(let name, let duration):
            "\(name) is \(duration): give a duration that is not negative, and more than zero for a deadline"
        case .tooSmall(let name, let value, let minimum):
            "\(name) is \(value): give \(minimum) or more"
        case .neverEnds:
            "a policy with retries and without a deadline never ends where the network does not return: give a deadline,"
                + " or a single attempt"
        }
    }
}

extension RetryPolicyError {
    static func check(_ duration: Duration, _ name: String) throws(RetryPolicyError) {
        guard duration >= .zero else { throw .invalidDuration(name: name, duration) }
    }

    static func check(_ value: Double, _ name: String, atLeast minimum: Double) throws(RetryPolicyError) {
        // Written so that it refuses what is not a number, too.
        guard value >= minimum, value.isFinite else { throw .tooSmall(name: name, value, minimum: minimum) }
    }
}

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
