/// The rules for retries. They determine if a failed request is sent again, the wait, and the end. A value type.
/// One policy may serve any number of requests.
///
/// The step after a failure depends on the stage that the request reached (``FailureStage``), and on the monitor's
/// reachability (``HostReachability``):
///
/// | Failure | Target | Then |
/// |---|---|---|
/// | never sent | any | retried |
/// | may have been processed | idempotent method (RFC 9110, 9.2.2) or idempotency key | retried |
/// | may have been processed | another | ends: ``RetryError/Ending/unsafeToRepeat`` |
/// | response 408, 425, 429, or 503 with Retry-After | any: the server reports that it has not acted | retried |
/// | response 500, 502, 503, 504 | idempotent method or idempotency key | retried |
/// | response 500, 502, 503, 504 | another | ends: ``RetryError/Ending/unsafeToRepeat`` |
/// | response with another status | any | ends: ``RetryError/Ending/notRetryable`` |
/// | an error of neither the network nor the server | any | ends: ``RetryError/Ending/notRetryable`` |
///
/// | Reachability | The wait before the retry |
/// |---|---|
/// | any, and the response has Retry-After | the time that the server requests, at most ``retryAfterCap`` |
/// | any, and the server responded | ``backoff`` |
/// | not reachable | until the host is reachable, responds to a probe, or the deadline passes. The budget is not charged. |
/// | not reachable because the name is not resolved | ``backoff``, which ends when the name is resolved |
/// | reachable, by another path than when the attempt began | none, once for each new path |
/// | reachable, or unknown | ``backoff``, which ends when the path changes |
///
/// A response has priority over the monitor's reachability. A name may not exist at all, so the attempts with an unresolved
/// name are limited (``attemptsUnresolved``). While the machine is offline and cannot query a name server, the reachability
/// contains that reason instead, and the request waits for the network.
///
/// Every retry also observes the limits of its host (``RetryCoordinator``). A probe interrupts a long wait for the
/// network (``RetryLimits/probeInterval``). A Retry-After of a host applies to all requests to it.
public struct RetryPolicy: Sendable {
    /// Returns the stage that a failed request reached, from its error and from the monitor's reachability right after the
    /// failure. Returns nil for an error of neither the network nor the server, which is not retried.
    public typealias Classifier = @Sendable (_ error: any Error, _ reachability: HostReachability) -> FailureStage?

    /// The statuses that are retried by default: 408, 425, 429, 500, 502, 503, 504.
    public static let standardStatuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]

    /// The maximum time of all attempts and waits together. An attempt in progress at that time is cancelled. Nil is
    /// valid only for a single attempt.
    public package(set) var deadline: Duration? = .seconds(300)

    /// The maximum number of attempts, including the first.
    public package(set) var attempts = 20

    /// The maximum number of attempts that are sent.
    public package(set) var attemptsAfterSending = 3

    /// The maximum number of attempts that fail because the name of the host is not resolved although name servers are
    /// reachable. The name may be mistyped.
    public package(set) var attemptsUnresolved = 3

    /// The maximum number of attempts whose connection the host refuses (ECONNREFUSED). The host may not run a server.
    public package(set) var attemptsRefused = 3

    /// The maximum time that a request waits for a path to its host, as the sum of all such waits. If nil, only the
    /// deadline limits it.
    public package(set) var pathTimeout: Duration?

    /// The wait before a retry if no other rule applies.
    public package(set) var backoff = Backoff.standard

    /// The maximum wait that a Retry-After may request. If the wait would pass the deadline, the request ends
    /// immediately.
    public package(set) var retryAfterCap: Duration = .seconds(60)

    /// The statuses of responses that are retried.
    public package(set) var statuses = standardStatuses

    /// The methods that may be repeated although the server may have acted. If nil, the idempotent methods. A request
    /// with an idempotency key may always be repeated.
    public package(set) var methods: Set<RequestMethod>?

    /// A Boolean value that indicates whether the first attempt also waits if the host is known not to be reachable, or
    /// has sent Retry-After. Requests of HTTP clients always wait.
    public package(set) var waitsFirst = false

    /// Determines the stage that a failed request reached.
    public package(set) var classify = classifyRetryableErrors

    /// A deadline of 5 minutes, 20 attempts, of which at most 3 are sent, 3 fail with an unresolved name and 3 are
    /// refused (at most 1.5 s of waits for each of the last two), ``Backoff/standard``, and Retry-After up to 60 s.
    public static let standard = RetryPolicy()

    /// One attempt without a deadline. While this machine has no path, the attempt waits for at most 30 seconds. No
    /// status is retried. This is the default of a `Session`, whose interceptors decide about retries.
    public static let singleAttempt = standard.changing { policy in
        policy.deadline = nil
        policy.attempts = 1
        policy.pathTimeout = .seconds(30)
        policy.statuses = []
        policy.waitsFirst = true
    }

    private init() {}

    /// Creates a policy.
    ///
    /// - Throws: ``RetryPolicyError`` if a duration is negative, the deadline is zero, a number of attempts is less
    ///   than 1, or if more than one attempt is permitted without a deadline.
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
        try RetryPolicyError.check(Double(attemptsUnresolved), "the number of unresolved attempts", atLeast: 1)
        try RetryPolicyError.check(Double(attemptsRefused), "the number of refused attempts", atLeast: 1)
        if let pathTimeout { try RetryPolicyError.check(pathTimeout, "the maximum wait for a path") }
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

    /// Returns a copy with changes that are not validated.
    package func changing(_ change: (inout RetryPolicy) -> Void) -> RetryPolicy {
        var policy = self
        change(&policy)
        return policy
    }

    /// The default classifier: the stage of a ``RetryableError``. Every other error is not retried.
    public static let classifyRetryableErrors: Classifier = { error, _ in (error as? any RetryableError)?.failureStage }
}

/// The error of an invalid policy, or of invalid limits. Only initializers throw it.
public enum RetryPolicyError: Error, Hashable, Sendable {
    /// A duration is negative, or zero where it must be positive.
    case invalidDuration(name: String, Duration)
    /// A number is below its minimum.
    case tooSmall(name: String, Double, minimum: Double)
    /// More than one attempt is permitted without a deadline, so that retries never end if the network does not return.
    case neverEnds
}

extension RetryPolicyError: CustomStringConvertible {
    /// One sentence with the error and a remedy.
    public var description: String {
        switch self {
        case .invalidDuration(let name, let duration):
            "cannot set \(name) to \(duration): it must not be negative; a deadline and a probe interval must be positive"
        case .tooSmall(let name, let value, let minimum):
            "cannot set \(name) to \(value): the minimum is \(minimum)"
        case .neverEnds:
            "cannot retry without a deadline: the retries would never end if the network did not return; set a deadline"
                + " or attempts: 1"
        }
    }
}

extension RetryPolicyError {
    static func check(_ duration: Duration, _ name: String) throws(RetryPolicyError) {
        guard duration >= .zero else { throw .invalidDuration(name: name, duration) }
    }

    static func check(_ value: Double, _ name: String, atLeast minimum: Double) throws(RetryPolicyError) {
        // This order also rejects NaN.
        guard value >= minimum, value.isFinite else { throw .tooSmall(name: name, value, minimum: minimum) }
    }
}

/// The default wait before a retry: exponential backoff with full jitter.
///
/// The wait before retry number `n` (the first is 1) is uniformly distributed from zero to `min(cap, base * factor^(n -
/// 1))`:
///
/// | Retry | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 and more |
/// |---|---|---|---|---|---|---|---|---|
/// | Maximum wait by default | 0.5 s | 1 s | 2 s | 4 s | 8 s | 16 s | 32 s | 60 s |
/// | Mean | 0.25 s | 0.5 s | 1 s | 2 s | 4 s | 8 s | 16 s | 30 s |
///
/// Full jitter spreads requests that failed together better than a wait with a fixed part.
public struct Backoff: Hashable, Sendable {
    /// The maximum wait before the first retry.
    public private(set) var base: Duration = .milliseconds(500)

    /// The factor by which the maximum wait grows with each retry.
    public private(set) var factor = 2.0

    /// The upper limit of every wait.
    public private(set) var cap: Duration = .seconds(60)

    /// A Boolean value that indicates whether the wait is random. If false, every wait is the maximum.
    public private(set) var isJittered = true

    /// A base of 0.5 s, a factor of 2 and a cap of 60 s, with jitter.
    public static let standard = Backoff()

    private init() {}

    /// Creates a backoff.
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

    /// Returns the maximum wait before a retry. The number of the first retry is 1.
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

    /// Returns the wait before a retry.
    ///
    /// - Parameter chance: A uniformly distributed number from 0 to 1.
    func wait(beforeRetry number: Int, chance: Double) -> Duration {
        longestWait(beforeRetry: number) * (isJittered ? chance : 1)
    }
}

/// The decision after a failure, by the tables of ``RetryPolicy``. A pure function of its arguments.
enum RetryDecision: Equatable {
    case end(RetryError.Ending)
    /// Retry the request.
    ///
    /// - Parameters:
    ///   - reason: The reason for the wait.
    ///   - pause: The wait before the request enters the queue of its host; nil for none.
    ///   - isFree: True if the host's budget is not charged.
    case retry(RetryReason, pause: Duration?, isFree: Bool)

    /// The state of a request that has failed.
    struct Situation {
        var stage: FailureStage?
        var reachability: HostReachability
        /// The generation of the path when the attempt began; nil if the host was not watched then.
        var generationAtBegin: UInt64?
        /// The number of attempts that were made (`attempts`) and that were sent (`sent`).
        var attempts: Int
        var sent: Int
        /// The number of attempts that failed because the name was not resolved.
        var unresolved: Int
        /// The number of attempts whose connection the host refused.
        var refused: Int
        /// The number of backoff waits so far.
        var backoffs: Int
        /// The time until the deadline; nil without a deadline.
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
        // An attempt that failed without a path does not count if the wait for a path has its own limit.
        if stage == .neverSent, situation.reachability.isOffline, policy.pathTimeout != nil {
            self = .retry(.unreachable, pause: nil, isFree: true)
            return
        }
        guard situation.attempts < policy.attempts, situation.sent < policy.attemptsAfterSending,
            situation.unresolved < policy.attemptsUnresolved, situation.refused < policy.attemptsRefused
        else {
            self = .end(.attemptsExhausted)
            return
        }
        if situation.reachability.isOffline, stage.isOfNetwork {
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
    /// A Boolean value that indicates whether the path has changed since the attempt began, so that the failure reveals
    /// nothing about the current path.
    fileprivate var isNewPath: Bool {
        guard let generationAtBegin, generationAtBegin > 0 else { return false }
        return reachability.status == .reachable && reachability.generation > generationAtBegin
    }
}

extension FailureStage {
    /// A Boolean value that indicates whether the path may be the cause of the failure. A server that responded was
    /// reachable, and another path would not change its response.
    var isOfNetwork: Bool {
        if case .answered = self { false } else { true }
    }
}
