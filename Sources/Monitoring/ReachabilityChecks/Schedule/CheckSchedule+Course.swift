extension CheckSchedule {
    /// What is known and planned for one path, and void with it.
    struct Course: Hashable, Sendable {
        var state = ScheduleState.unknown
        /// The last round that was more than cheap.
        var latest: (verdict: CheckVerdict, time: Duration)? {
            get { latestVerdict.map { ($0, latestTime) } }
            set { (latestVerdict, latestTime) = (newValue?.verdict, newValue?.time ?? .zero) }
        }
        private var latestVerdict: CheckVerdict?
        private var latestTime = Duration.zero
        var trial: Trial?
        /// When the successes began that no failure has interrupted.
        var successSince: Duration?
        /// When something beyond the gateway is known to have answered.
        var lastProof: Duration?
        var lastFailure: Duration?
        var lastCheap: Duration?
        var lastRound: Duration?
        /// Until then passive proof is not believed, for probes have just said something else.
        var disbelievesUntil: Duration?
        /// When it broke, and how many rounds were planned since.
        var brokenSince: Duration?
        var retries = 0
        var plan: Plan?
        var observeAt: Duration?
        /// Whether the observation that is under way is about an older path.
        var ignoresObservation = false

        /// Whether rounds have begun to decide something, and go on whatever they cost.
        var isDeciding: Bool { trial != nil || successSince != nil && state != .works }
    }

    /// A round to come.
    struct Plan: Hashable, Sendable {
        var at: Duration
        var kind: RoundKind
        var purpose: CheckBudget.Purpose
    }

    /// A round that is under way.
    struct Running: Hashable, Sendable {
        var kind: RoundKind
        var purpose: CheckBudget.Purpose
        var isMetered: Bool
        /// Whether it is about an older path.
        var isVoid = false

        /// What the rounds are run for that decide with this one. Those after a change have no limit.
        var decidingPurpose: CheckBudget.Purpose { purpose == .event ? .event : .trouble }
    }

    /// Rounds that decide together: two of three.
    struct Trial: Hashable, Sendable {
        let began: Duration
        let purpose: CheckBudget.Purpose
        /// Whether no round, but passive proof or a cheap probe has raised it.
        var isHint = false
        var successes = 0
        var failures = 0
        var undecided = 0

        /// When the next of them begins; nil after the last.
        var next: Duration? {
            let rounds = successes + failures + undecided
            return rounds < ScheduleTiming.trial.count ? began + ScheduleTiming.trial[rounds] : nil
        }
    }
}
