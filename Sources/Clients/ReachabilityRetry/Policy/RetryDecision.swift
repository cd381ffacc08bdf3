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
