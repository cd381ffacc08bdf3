import TestSupport

@testable import ReachabilityChecks

/// A schedule, and a simulated line in virtual time.
struct SimulatedLine {
    /// The verdict of rounds. A test changes it in the pathState of time.
    var verdict = CheckVerdict.fine
    /// The verdicts of the next rounds, before `verdict`.
    var script: [CheckVerdict] = []
    /// The observation of other programs' traffic.
    var finding = PassiveFinding.silent
    var cost: (RoundKind) -> ProbeCost = { kind in
        switch kind {
        case .minimal: ProbeCost(packets: 2, bytes: 170)
        case .private: ProbeCost(packets: 16, bytes: 2200)
        case .brief: ProbeCost(packets: 24, bytes: 4000)
        case .full: ProbeCost(packets: 44, bytes: 10_000)
        }
    }
    /// The duration of a round.
    var length = Duration.milliseconds(100)

    private(set) var schedule: CheckSchedule
    private(set) var now = Duration.zero
    private(set) var log: [(time: Duration, action: ScheduleAction)] = []
    private var timer: Duration?
    private var pending: [(time: Duration, event: ScheduleEvent)] = []
    private(set) var isRunning = false
    private(set) var kernelEvents: UInt64 = 0

    init(_ options: CheckSchedule.Options = .init(), seed: UInt64 = 1) {
        schedule = CheckSchedule(options, chance: SeededGenerator(seed: seed))
    }

    // MARK: Events

    /// Changes the kernel's path.
    mutating func path(isMetered: Bool = false, obstacle: CheckVerdict? = nil) {
        kernelEvents += 1
        var line = CheckLine(Situation().evidence.path, isMetered: isMetered)
        line.generation = kernelEvents
        line.obstacle = obstacle
        send(.path(line))
    }

    mutating func send(_ event: ScheduleEvent) {
        for action in schedule.handle(event, at: now) { perform(action) }
    }

    mutating func advance(by duration: Duration) { advance(to: now + duration) }

    mutating func advance(to end: Duration) {
        while let next = nextTime, next <= end {
            now = next
            if let index = pending.indices.min(by: { pending[$0].time < pending[$1].time }), pending[index].time <= now
            {
                let event = pending.remove(at: index).event
                if case .roundEnded = event { isRunning = false }
                send(event)
            } else {
                timer = nil
                send(.timer)
            }
        }
        now = end
    }

    private var nextTime: Duration? { (pending.map(\.time) + (timer.map { [$0] } ?? [])).min() }

    private mutating func perform(_ action: ScheduleAction) {
        log.append((now, action))
        switch action {
        case .arm(let time):
            precondition(time.map { $0 >= now } != false, "a timer in the past")
            timer = time
        case .observe:
            pending.append((now + .milliseconds(1), .observed(finding)))
        case .run(let kind):
            precondition(!isRunning, "two rounds at a time")
            isRunning = true
            let verdict = script.isEmpty ? verdict : script.removeFirst()
            pending.append((now + length, .roundEnded(verdict, cost(kind))))
        case .cancelRound:
            precondition(isRunning, "nothing to cancel")
            for index in pending.indices {
                guard case .roundEnded(let verdict, _) = pending[index].event else { continue }
                pending[index] = (now + .milliseconds(5), .roundEnded(verdict, ProbeCost(packets: 1, bytes: 64)))
            }
        case .notify, .answer: break
        }
    }

    // MARK: Results

    mutating func forgetLog() { log = [] }

    var notified: [CheckVerdict] {
        log.compactMap { if case .notify(let verdict) = $0.action { verdict } else { nil } }
    }
    var rounds: [(time: Duration, kind: RoundKind)] {
        log.compactMap { if case .run(let kind) = $0.action { ($0.time, kind) } else { nil } }
    }
    var observations: [Duration] { log.filter { $0.action == .observe }.map(\.time) }
    var answers: [CheckVerdict] {
        log.compactMap { if case .answer(let verdict) = $0.action { verdict } else { nil } }
    }

    /// The times between consecutive rounds.
    var gaps: [Duration] { zip(rounds, rounds.dropFirst()).map { $1.time - $0.time } }

    func spent(on purpose: CheckBudget.Purpose, isMetered: Bool = false) -> ProbeCost {
        schedule.budget.spent(on: purpose, isMetered, at: now)
    }
}

extension CheckVerdict {
    static func made(
        _ place: CheckPlace,
        _ reason: ProbeReason,
        _ confidence: CheckConfidence = .likely,
        secondsRemaining: UInt64? = nil
    ) -> CheckVerdict {
        var results: [ProbeResult] = []
        if let secondsRemaining {
            let request = ProbeRequest(.portalAPI, .portal, binding: ProbeBinding(family: .ipv4))
            var result = ProbeResult(request, generation: 1, .answered)
            result.evidence.portal = PortalInformation(isCaptive: true, secondsRemaining: secondsRemaining)
            results = [result]
        }
        return CheckVerdict(Finding(place, reason, confidence, "\(place)", results))
    }

    static let fine = made(.works, .upstreamAnswers)
    static let silent = made(.upstream, .silentBeyond)
    static let refused = made(.upstream, .noRoute, .proven)
    static let unplugged = made(.link, ProbeReason("noCarrier"), .proven)
    static let captive = made(.portal, .redirected, .proven)
    static let slow = made(.degraded, .slow)
    static let half = made(.inconclusive, .anchorsDisagree, .suspected)
}
