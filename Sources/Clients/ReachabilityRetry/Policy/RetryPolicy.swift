/// When failed work is tried again, and when no more. A value; one policy may serve any number of requests.
///
/// The step after a failure depends on the stage that the request reached (``FailureStage``), and on the monitor's verdict:
///
/// | Failure | Target | Then |
/// |---|---|---|
/// | never sent | any | retried |
/// | may have been processed | idempotent method (RFC 9110, 9.2.2) or idempotency key | retried |
/// | may have been processed | another | ends: ``RetryError/Ending/unsafeToRepeat`` |
/// | answered with 408, 425, 429, or 503 with Retry-After | any: the server reports that it has not acted | retried |
/// | answered with 500, 502, 503, 504 | idempotent method or idempotency key | retried |
/// | answered with 500, 502, 503, 504 | another | ends: ``RetryError/Ending/unsafeToRepeat`` |
/// | answered with another status | any | ends: ``RetryError/Ending/notRetryable`` |
/// | an error that is not the network's or the server's | any | ends: ``RetryError/Ending/notRetryable`` |
///
/// | Verdict | The wait before the retry |
/// |---|---|
/// | any, but the response has Retry-After | as long as the server asks, at most ``retryAfterCap`` |
/// | any, but the server answered | ``backoff`` |
/// | not reachable | until it is reachable, the host answers a probe, or the deadline: no charge to the budget |
/// | not reachable because the name is not resolved | ``backoff``; cut short when the name is resolved |
/// | reachable, by another path than when the attempt began | none, once for each new path |
/// | reachable, or unknown | ``backoff``; cut short when the path changes |
///
/// A response proves more than the monitor's verdict. A name may not exist at all, so attempts without an address are limited
/// (``attemptsUnresolved``). While the machine is offline, so that no name server can be queried, the verdict has that as the reason, and the
/// request waits for the network.
///
/// Every retry then passes the limits of its host, see ``RetryCoordinator``. A probe interrupts a long wait for the network
/// (``RetryLimits/probeInterval``). A Retry-After of a host applies to all its requests.
public struct RetryPolicy: Sendable {
    /// Returns the stage that a failed request reached, from its error and from the verdict right after; nil for an error that is not the
    /// network's or the server's, against which a retry does not help.
    public typealias Classifier = @Sendable (_ error: any Error, _ verdict: RetryVerdict) -> FailureStage?

    /// The statuses that are retried by default: 408, 425, 429, 500, 502, 503, 504.
    public static let standardStatuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]

    /// The maximum time of all attempts and waits together. An attempt in progress at that time is cancelled. Nil only for a single attempt.
    public package(set) var deadline: Duration? = .seconds(300)

    /// The maximum number of attempts, including the first.
    public package(set) var attempts = 20

    /// The maximum number of attempts that are sent.
    public package(set) var attemptsAfterSending = 3

    /// The maximum number of attempts that fail because the name of the host is not resolved although name servers can be reached. The name
    /// may be mistyped.
    public package(set) var attemptsUnresolved = 3

    /// The maximum number of attempts that the host refuses (ECONNREFUSED). No server may be running.
    public package(set) var attemptsRefused = 3

    /// The maximum time that a request waits for a path to its host, all such waits together. If nil, only the deadline limits it.
    public package(set) var pathTimeout: Duration?

    /// The waits for which nothing better is known.
    public package(set) var backoff = Backoff.standard

    /// The maximum wait that a Retry-After may request. If it would pass the deadline, the request ends at once.
    public package(set) var retryAfterCap: Duration = .seconds(60)

    /// The statuses of responses that may be retried.
    public package(set) var statuses = standardStatuses

    /// The methods that may be repeated although the server may have acted; nil for the idempotent ones. A request with an idempotency
    /// key may be repeated in any case.
    public package(set) var methods: Set<RequestMethod>?

    /// Whether the first attempt also waits if the host is known not to be reachable, or has sent Retry-After. Requests of HTTP clients
    /// always do.
    public package(set) var waitsFirst = false

    /// Determines the stage that a failed request reached.
    public package(set) var classify = classifyRetryableErrors

    /// Five minutes, 20 attempts, of which 3 are sent, 3 fail without the name and 3 are refused (1.5 s at most), ``Backoff/standard``,
    /// Retry-After up to a minute.
    public static let standard = RetryPolicy()

    /// One attempt, without a deadline, after a wait of at most 30 seconds while this machine has no path. Every status is a response. It is
    /// the default of a `Session`, whose interceptors decide about retries.
    public static let singleAttempt = standard.changing { policy in
        policy.deadline = nil
        policy.attempts = 1
        policy.pathTimeout = .seconds(30)
        policy.statuses = []
        policy.waitsFirst = true
    }

    private init() {}

    /// A policy.
    ///
    /// - Throws: ``RetryPolicyError`` if a duration is negative, the deadline zero, a number of attempts less than 1, or if there are retries
    ///   without a deadline.
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

    /// Returns the policy with changes that are not checked.
    package func changing(_ change: (inout RetryPolicy) -> Void) -> RetryPolicy {
        var policy = self
        change(&policy)
        return policy
    }

    /// The default classifier: the stage of a ``RetryableError``. Every other error is not retried.
    public static let classifyRetryableErrors: Classifier = { error, _ in (error as? any RetryableError)?.failureStage }
}

/// The error of a policy, or of the settings of a coordinator. Thrown only when they are made.
public enum RetryPolicyError: Error, Hashable, Sendable {
    /// A duration that is less than zero, or zero although it must not be.
    case invalidDuration(name: String, Duration)
    /// A number that is too small.
    case tooSmall(name: String, Double, minimum: Double)
    /// Retries without a deadline, which never end if the network does not return.
    case neverEnds
}

extension RetryPolicyError: CustomStringConvertible {
    /// One sentence with the error and a remedy.
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

/// The wait before a retry for which nothing better is known: exponential, with full jitter.
///
/// The wait before retry number `n` (1 is the first) is drawn evenly from zero to `min(cap, base * factor^(n - 1))`:
///
/// | Retry | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 and more |
/// |---|---|---|---|---|---|---|---|---|
/// | Longest wait by default | 0.5 s | 1 s | 2 s | 4 s | 8 s | 16 s | 32 s | 60 s |
/// | Mean | 0.25 s | 0.5 s | 1 s | 2 s | 4 s | 8 s | 16 s | 30 s |
///
/// Full jitter spreads requests that failed together better than a wait with a fixed part.
public struct Backoff: Hashable, Sendable {
    /// The longest wait before the first retry.
    public private(set) var base: Duration = .milliseconds(500)

    /// The growth of the longest wait with each retry.
    public private(set) var factor = 2.0

    /// The longest wait of all.
    public private(set) var cap: Duration = .seconds(60)

    /// Whether the wait is drawn. If false, it is the longest.
    public private(set) var isJittered = true

    /// Half a second, doubled each time, a minute at most.
    public static let standard = Backoff()

    private init() {}

    /// A backoff.
    ///
    /// - Throws: ``RetryPolicyError`` if a duration is negative or `factor` is less than 1.
    public init(
        base: Duration = .milliseconds(500),
        factor: Double = 2,
        cap: Duration = .seconds(60),
        isJittered: Bool = true
    ) throws(RetryPolicyError) {
        try RetryPolicyError.check(base, "the base of the backoff")
        try RetryPolicyError.check(cap, "the cap of the backoff")
        try RetryPolicyError.check(factor, "the factor of the backoff", atLeast: 1)
        self.base = base
        self.factor = factor
        self.cap = cap
        self.isJittered = isJittered
    }

    /// The longest wait before a retry; 1 is the first.
    public func longestWait(beforeRetry number: Int) -> Duration {
        var wait = base
        var remaining = number - 1
        // Stops at the cap, so that nothing overflows after any number of retries.
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

/// What follows a failure, by the policy's tables. Pure: chance is told.
enum RetryDecision: Equatable {
    case end(RetryError.Ending)
    /// - Parameters:
    ///   - reason: What is waited for.
    ///   - pause: How long before getting in line.
    ///   - isFree: Whether the host's budget is not charged.
    case retry(RetryReason, pause: Duration?, isFree: Bool)

    /// What is known of a request that has failed.
    struct Situation {
        var stage: FailureStage?
        var verdict: RetryVerdict
        /// The generation of the path when the attempt began; nil if nobody watched then.
        var generationAtBegin: UInt64?
        /// How many attempts were made, and how many of them were sent.
        var attempts: Int
        var sent: Int
        /// How many failed while the name was not resolved.
        var unresolved: Int
        /// How many the host has refused.
        var refused: Int
        /// How many waits of the backoff there were.
        var backoffs: Int
        /// Nil without a deadline.
        var timeLeft: Duration?
    }

    init(
        after situation: Situation,
        of target: RetryTarget,
        by policy: RetryPolicy,
        chance: () -> Double
    ) {
        guard let stage = situation.stage else {
            self = .end(.notRetryable)
            return
        }
        if case .answered(let status, _) = stage, !policy.statuses.contains(status) {
            self = .end(.notRetryable)
            return
        }
        guard stage.maySendAgain(isRepeatable: target.isRepeatable) else {
            self = .end(.unsafeToRepeat)
            return
        }
        // An attempt that failed for want of a path does not count where the wait for one has a limit of its own.
        if stage == .neverSent, situation.verdict.isOffline, policy.pathTimeout != nil {
            self = .retry(.unreachable, pause: nil, isFree: true)
            return
        }
        guard situation.attempts < policy.attempts, situation.sent < policy.attemptsAfterSending,
            situation.unresolved < policy.attemptsUnresolved, situation.refused < policy.attemptsRefused
        else {
            self = .end(.attemptsExhausted)
            return
        }
        if situation.verdict.isOffline, stage.isOfNetwork {
            self = .retry(.unreachable, pause: nil, isFree: true)
        } else if case .answered(_, let wait?) = stage {
            let pause = min(wait, policy.retryAfterCap)
            let isTooLate = situation.timeLeft.map { pause >= $0 } ?? false
            self = isTooLate ? .end(.deadlineExpired) : .retry(.retryAfter, pause: pause, isFree: false)
        } else if situation.isNewPath, stage.isOfNetwork {
            self = .retry(.newPath, pause: nil, isFree: false)
        } else {
            let pause = policy.backoff.wait(beforeRetry: situation.backoffs + 1, chance: chance())
            self = .retry(.backoff, pause: pause, isFree: false)
        }
    }
}

extension RetryDecision.Situation {
    /// Whether the path has changed since the attempt began, so that the failure says nothing of the path there is now.
    fileprivate var isNewPath: Bool {
        guard let generationAtBegin, generationAtBegin > 0 else { return false }
        return verdict.status == .reachable && verdict.generation > generationAtBegin
    }
}

extension FailureStage {
    /// Whether the path may be its cause: a server that answered was reachable, and has no better answer on another path.
    var isOfNetwork: Bool {
        if case .answered = self { false } else { true }
    }
}
