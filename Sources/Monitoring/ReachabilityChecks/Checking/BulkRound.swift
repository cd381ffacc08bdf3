import LinuxSupport
import NetworkReachability

/// One round of many targets. A single owner begins their first probes, many at once, and makes the reports of those that work: neither
/// has a task of its own. Whoever does not work at once, or takes more than one probe, has a round of its own.
struct BulkRound {
    /// What the owner hears.
    private enum Message: Sendable {
        /// The first probe of a target.
        case ended(Int, ProbeResult)
        /// The round of a target: its report is told.
        case finished
        /// The size of packets to a target that answers was tested.
        case tested(Answer)
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
    private struct Answer: Sendable {
        let number: Int
        var evidence: CheckEvidence
        let clock: RoundClock
    }

    /// So many first probes are begun together, and so many are under way or wait to be told.
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
    /// Targets of which everything is known.
    private var tested: [Answer] = []
    private var rounds = 0
    /// Until the kernel says that it is not permitted.
    private var mayEcho = true
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
            if result.kind == .echo, result.outcome == .skipped(.notPermitted) { mayEcho = false }
            guard result.outcome == .answered else { return beginRound(number, one, &group) }
            var evidence = blank
            evidence.target = run.targets[number]
            evidence.take(TargetRound.Outcome(path: one.path, results: [result]), of: run.site)
            answers.append(Answer(number: number, evidence: evidence, clock: one.clock))
        case .finished:
            rounds -= 1
            left -= 1
        case .tested(let answer): tested.append(answer)
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
        next < run.targets.count && rounds < Self.limit && begun.count + answers.count + Self.batch <= Self.window
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
            if !batch.isEmpty { begin(batch, &group) }
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
        for ((number, address), path) in zip(batch, run.site.paths(to: batch.map(\.address))) {
            guard let (one, job) = firstProbe(of: number, at: address, along: path) else {
                beginRound(number, nil, &group)
                continue
            }
            jobs.append(job)
            order.append(number)
            begun[number] = one
        }
        let numbers = order.suffix(jobs.count)
        for (number, job) in zip(numbers, run.site.engine.begin(jobs)) { begun[number]?.probe.begin(job) }
    }

    /// Nil where the kernel says that packets go nowhere: then none is sent.
    private func firstProbe(of number: Int, at address: IPAddress, along path: NetworkPath?) -> (Begun, EngineJob)? {
        guard let path, path.status.isReachable, let target = run.targets[number],
            let prober = try? run.site.prober(to: address, along: path)
        else { return nil }
        let probe = ProbeUnderWay(on: run.site.engine) { [mailbox] in mailbox.post(.ended(number, $0)) }
        let clock = RoundClock(limit: run.site.options.timeLimit)
        let job = prober.first(of: target, at: address, limit: clock.left, mayEcho: mayEcho) { probe.end($0) }
        return job.map { (Begun(probe: probe, path: path, clock: clock), $0) }
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
        var (known, rest): ([Answer], [Answer]) = (tested, [])
        tested = []
        for var answer in answers {
            if !complete(&answer.evidence, &group) {
                rest.append(answer)
            } else if let round = run.segmentRound(of: answer.evidence) {
                group.addTask { [answer, mailbox] in
                    var answer = answer
                    answer.evidence.results += await round.run()
                    mailbox.post(.tested(answer))
                }
            } else {
                known.append(answer)
            }
        }
        answers = rest
        if known.isEmpty { return }
        let paths = run.site.pathsNow(known.map(\.evidence.path))
        for (answer, path) in zip(known, paths) {
            run.tell(answer.number, CheckReport(answer.evidence, now: path, of: run.site, begun: answer.clock.begun))
        }
        left -= known.count
    }

    /// Adds what is known of the line, where that matters.
    ///
    /// - Returns: whether all is known; what is not is asked for.
    private mutating func complete(_ evidence: inout CheckEvidence, _ group: inout DiscardingTaskGroup) -> Bool {
        var complete = evidence
        if !run.isEnough {
            guard let line = run.line.known else { return learn(run.line, &group) }
            complete.take(line)
        }
        if TargetStage.isDoubtful(complete) {
            guard let nobody = run.nobody.known else { return learn(run.nobody, &group) }
            complete.results += nobody.results
        }
        evidence = complete
        return true
    }

    private mutating func learn(_ line: SharedLine, _ group: inout DiscardingTaskGroup) -> Bool {
        guard !isLearning else { return false }
        isLearning = true
        group.addTask { [mailbox] in
            _ = await line.outcome()
            mailbox.post(.learned)
        }
        return false
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
