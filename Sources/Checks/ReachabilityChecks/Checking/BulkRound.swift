import LinuxPrimitives
import NetworkReachability
import Sockets

/// One round of many targets. A single owner begins their first probes, many at once, and makes the reports of those that work: neither
/// has a task of its own. Whoever does not work at once, or takes more than one probe, has a round of its own.
struct BulkRound {
    /// What the owner hears.
    private enum Message: Sendable {
        /// The first probe of a target.
        case ended(Int, ProbeResult)
        /// The round of a target: its report is told.
        case finished
        /// Something about the line that answers wait for.
        case learned
        /// The line was asked about for those who do not answer.
        case prepared
    }

    /// A target whose first probe is under way.
    private struct Begun {
        let probe: ProbeUnderWay
        let path: NetworkPath
        let clock: RoundClock
    }

    /// A target that has answered, and is to be reported.
    private struct Answer {
        let number: Int
        let evidence: CheckEvidence
        let clock: RoundClock
    }

    /// So many first probes are begun together, and so many are under way.
    private static let batch = 64
    private static let window = 256
    /// So many targets have a round of their own; each has a few sockets.
    private static let limit = 200

    private let run: CheckRun
    private let rate: Int
    private let mailbox = Mailbox<Message>()
    private let start = ContinuousClock.now
    /// What is known of every target.
    private let blank: CheckEvidence
    private var next = 0
    private var left: Int
    private var begun: [Int: Begun] = [:]
    /// The numbers of those that were begun, the first first; some are over.
    private var order: ArraySlice<Int> = []
    private var answers: [Answer] = []
    private var rounds = 0
    private var isLearning = false
    private var isPreparing = false

    /// - Parameter rate: how many targets are begun in a second.
    init(_ run: CheckRun, rate: Int) {
        (self.run, self.rate) = (run, rate)
        blank = CheckEvidence(run.site)
        left = run.targets.count
    }

    /// Tells one report of each target. What is cancelled begins nothing, and is told as it is.
    mutating func run() async {
        let mailbox = mailbox
        await withTaskCancellationHandler {
            await withDiscardingTaskGroup { group in
                if !run.isEnough { prepareLine(after: .zero, &group) }
                while left > 0 {
                    begin(&group)
                    goOnAlone(&group)
                    for message in await mailbox.take(until: moment) { take(message, &group) }
                    report(&group)
                }
                group.cancelAll()
            }
        } onCancel: {
            mailbox.call()
        }
    }

    private mutating func take(_ message: Message, _ group: inout DiscardingTaskGroup) {
        switch message {
        case .ended(let number, let result):
            // Otherwise a round has it.
            guard let one = begun.removeValue(forKey: number) else { return }
            guard result.outcome == .answered else { return beginRound(number, one, &group) }
            var evidence = blank
            evidence.target = run.targets[number]
            evidence.take(TargetRound.Outcome(path: one.path, results: [result]), of: run.site)
            answers.append(Answer(number: number, evidence: evidence, clock: one.clock))
        case .finished:
            rounds -= 1
            left -= 1
        case .learned: isLearning = false
        case .prepared: isPreparing = false
        }
    }

    // MARK: Time

    /// When a target is to be begun.
    private func due(_ number: Int) -> ContinuousClock.Instant {
        Task.isCancelled ? start : start + .seconds(1) * number / rate
    }

    /// Whether more may be begun: a few at once cost less than one by one.
    private var hasRoom: Bool {
        next < run.targets.count && rounds < Self.limit && begun.count + Self.batch <= Self.window
    }

    /// When there is something to do, if nothing comes before.
    private var moment: ContinuousClock.Instant? {
        let patience = order.first.flatMap { begun[$0] }.map { $0.clock.begun + CheckRun.targetsFirst }
        return [hasRoom ? due(next) : nil, patience].compactMap(\.self).min()
    }

    // MARK: Beginning

    private mutating func begin(_ group: inout DiscardingTaskGroup) {
        while hasRoom, due(next) <= .now {
            var batch: [(number: Int, address: IPAddress)] = []
            let now = ContinuousClock.now
            while batch.count < Self.batch, hasRoom, due(next) <= now {
                if let address = address(of: next) {
                    batch.append((next, address))
                } else {
                    beginRound(next, nil, &group)
                }
                next += 1
            }
            begin(batch, &group)
        }
    }

    /// The address of a target whose first probe may decide; nil of any other.
    private func address(of number: Int) -> IPAddress? {
        guard !Task.isCancelled, let target = run.targets[number], target.decidesAtOnce, let address = target.address,
            run.site.options.addressFamily ?? address.wire.family == address.wire.family
        else { return nil }
        return address
    }

    private mutating func begin(_ batch: [(number: Int, address: IPAddress)], _ group: inout DiscardingTaskGroup) {
        var jobs: [EngineJob] = []
        let paths = run.site.paths(to: batch.map(\.address))
        for ((number, address), path) in zip(batch, paths) {
            // Where the kernel says that packets go nowhere, none is sent.
            guard let path, path.status.isReachable, let prober = try? run.site.prober(to: address, along: path),
                let target = run.targets[number]
            else {
                beginRound(number, nil, &group)
                continue
            }
            let probe = ProbeUnderWay(on: run.site.engine) { [mailbox] in mailbox.post(.ended(number, $0)) }
            let clock = RoundClock(limit: run.site.options.timeLimit)
            guard let job = prober.first(of: target, at: address, limit: clock.left, { probe.end($0) }) else {
                beginRound(number, nil, &group)
                continue
            }
            jobs.append(job)
            order.append(number)
            begun[number] = Begun(probe: probe, path: path, clock: clock)
        }
        let numbers = order.suffix(jobs.count)
        for (number, job) in zip(numbers, run.site.engine.begin(jobs)) { begun[number]?.probe.begin(job) }
    }

    /// Those that have had their chance, or are cancelled, go on alone.
    private mutating func goOnAlone(_ group: inout DiscardingTaskGroup) {
        while let number = order.first {
            if let one = begun[number] {
                guard Task.isCancelled || one.clock.elapsed >= CheckRun.targetsFirst else { return }
                begun[number] = nil
                beginRound(number, one, &group)
            }
            order.removeFirst()
        }
        // A slice keeps what it no longer shows.
        order = []
    }

    private mutating func beginRound(_ number: Int, _ one: Begun?, _ group: inout DiscardingTaskGroup) {
        rounds += 1
        // Who has not answered by now will hardly do.
        prepareLine(after: one == nil ? CheckRun.targetsFirst : .zero, &group)
        group.addTask { [run, mailbox] in
            run.tell(number, await run.report(of: run.targets[number], begun: one?.clock, first: one?.probe))
            mailbox.post(.finished)
        }
    }

    // MARK: Reports

    /// Tells the reports of those that have answered, as far as nothing else has to be known.
    private mutating func report(_ group: inout DiscardingTaskGroup) {
        var known: [Answer] = []
        var rest: [Answer] = []
        for answer in answers {
            guard let evidence = complete(answer.evidence, &group) else {
                rest.append(answer)
                continue
            }
            known.append(Answer(number: answer.number, evidence: evidence, clock: answer.clock))
        }
        answers = rest
        let paths = run.site.pathsNow(known.map(\.evidence.path))
        for (answer, path) in zip(known, paths) {
            run.tell(answer.number, CheckReport(answer.evidence, now: path, of: run.site, begun: answer.clock.begun))
        }
        left -= known.count
    }

    /// Adds what is known of the line, where that matters; nil where it has to be asked about first.
    private mutating func complete(
        _ evidence: CheckEvidence,
        _ group: inout DiscardingTaskGroup
    ) -> CheckEvidence? {
        var evidence = evidence
        if !run.isEnough {
            guard let line = run.line.known else { return learn(run.line, &group) }
            evidence.take(line)
        }
        if TargetStage.isDoubtful(evidence) {
            guard let nobody = run.nobody.known else { return learn(run.nobody, &group) }
            evidence.results += nobody.results
        }
        return evidence
    }

    private mutating func learn(_ line: SharedLine, _ group: inout DiscardingTaskGroup) -> CheckEvidence? {
        guard !isLearning else { return nil }
        isLearning = true
        group.addTask { [mailbox] in
            _ = await line.outcome()
            mailbox.post(.learned)
        }
        return nil
    }

    /// Asks about the line before those need it who do not answer.
    private mutating func prepareLine(after time: Duration, _ group: inout DiscardingTaskGroup) {
        guard !isPreparing, run.line.known == nil else { return }
        isPreparing = true
        group.addTask { [run, mailbox] in
            await run.askLine(after: time)
            mailbox.post(.prepared)
        }
    }
}
