import LinuxSupport
import NetworkReachability

/// A queue of targets, owned by one task. It starts the first probes of many targets in batches, and creates the reports of targets that
/// answer, without a task per target. A target that does not answer immediately, or needs several probes, gets a round with its own task.
struct CheckQueue {
    struct Job: Sendable {
        let number: Int
        let target: CheckTarget?
        var freshness = CheckFreshness.lasting
        /// True if a first report was discarded because the network changed.
        var isRepeated = false
    }

    enum Message: Sendable {
        case check(Job)
        /// The caller no longer needs the report of the job.
        case cancel(Int)
        /// The queue receives no more jobs.
        case close
        /// The first probe of a job ended.
        case ended(Int, ProbeResult)
        /// The round of a job ended.
        case reported(Int, CheckReport)
        /// The test of large packets to a target that answers has ended.
        case tested(Int, [ProbeResult])
        /// The probes of the uplink that were started because a target answers have ended.
        case learned
        /// The probes of the uplink that were started because a target does not answer have ended.
        case prepared
    }

    /// A job that has been started.
    private struct StartedJob {
        var job: Job
        let context: CheckContext
        let clock: RoundClock
        /// The earliest time of usable results about the uplink. If nil, results are usable for their lifetime.
        let since: ContinuousClock.Instant?
        /// The first probe and its path.
        var first: (probe: RunningProbe, path: NetworkPath)?
        /// True while the first probe runs and no round has taken it over.
        var isProbing = false
        /// The task of the job, if it has one.
        var task: Task<Void, Never>?

        init(_ job: Job, _ context: CheckContext, isFresh: Bool) {
            (self.job, self.context, clock) = (job, context, context.clock)
            since = isFresh ? .now : nil
        }
    }

    /// The answer of a target that is not reported yet.
    private struct Answer {
        let number: Int
        var evidence: CheckEvidence
        /// True if the report needs no more probes.
        var isComplete = false
    }

    /// The maximum number of first probes started at once.
    private static let batch = 64
    /// The maximum number of first probes that run, or whose answers are not reported yet.
    private static let window = 256
    /// The maximum number of concurrent rounds in the process. Each round uses a few sockets.
    private static let limit = max(1, min(256, OpenFiles.limit / 8))
    private static let turns = ConcurrencyLimit(count: limit)

    private let contexts: CheckContexts
    private let messages: MessageQueue<Message>
    private let completion: @Sendable (Int, Result<CheckReport, CheckError>) -> Void
    private var queue: ArraySlice<Job> = []
    /// The numbers of the jobs that are not reported yet.
    private var open: Set<Int> = []
    private var isClosed = false
    /// The jobs with a running first probe, in the order of their start. Some of them may have ended.
    private var order: ArraySlice<Int> = []
    private var probing = 0
    private var rounds = 0
    private var begun: [Int: StartedJob] = [:]
    private var answers: [Answer] = []
    private var learning: Task<Void, Never>?
    private var preparing: Task<Void, Never>?
    /// The earliest time at which the next job may start; nil if the rate does not limit it.
    private var pause: ContinuousClock.Instant?

    /// - Parameter completion: Receives the report of each job by its number. It must not block.
    init(
        _ contexts: CheckContexts,
        _ messages: MessageQueue<Message> = MessageQueue(),
        completion: @escaping @Sendable (Int, Result<CheckReport, CheckError>) -> Void
    ) {
        (self.contexts, self.messages, self.completion) = (contexts, messages, completion)
    }

    /// Checks targets, and reports each one by its index. If the task is cancelled, no more probes start, and each report contains the
    /// results so far.
    mutating func run(_ targets: [CheckTarget?]) async {
        queue = targets.enumerated().map { Job(number: $0.offset, target: $0.element) }[...]
        open = Set(targets.indices)
        isClosed = true
        await run()
    }

    /// Processes the posted jobs until the queue is closed.
    mutating func run() async {
        let messages = messages
        await withTaskCancellationHandler {
            while !isClosed || !open.isEmpty {
                beginJobs()
                startLateRounds()
                // All jobs may have failed immediately.
                if isClosed, open.isEmpty { break }
                for message in await messages.take(until: moment) { take(message) }
                report()
                if Task.isCancelled { cancelTasks() }
            }
        } onCancel: {
            messages.call()
        }
        cancelTasks()
        for task in [learning, preparing] { await task?.value }
    }

    private func cancelTasks() {
        for job in begun.values { job.task?.cancel() }
        learning?.cancel()
        preparing?.cancel()
    }

    private mutating func take(_ message: Message) {
        switch message {
        case .check(let job):
            queue.append(job)
            open.insert(job.number)
        case .cancel(let number):
            guard open.remove(number) != nil, let job = begun.removeValue(forKey: number) else { return }
            answers.removeAll { $0.number == number }
            if job.isProbing { probing -= 1 }
            job.task?.cancel()
            job.first?.probe.cancel()
        case .close: isClosed = true
        case .ended(let number, let result):
            guard let job = begun[number], job.isProbing, let first = job.first else { return }
            begun[number]?.isProbing = false
            probing -= 1
            if result.kind == .echo, result.outcome == .skipped(.notPermitted) {
                job.context.mayEcho.withLock { $0 = false }
            }
            guard result.outcome == .answered else { return beginRound(number) }
            var evidence = job.context.evidence(of: job.job.target)
            evidence.take(TargetRound.Outcome(path: first.path, results: [result]), of: job.context.site)
            answers.append(Answer(number: number, evidence: evidence))
        case .reported(let number, let report):
            rounds -= 1
            if let job = begun.removeValue(forKey: number) { deliver(report, of: job.job) }
        case .tested(let number, let results):
            guard let index = answers.firstIndex(where: { $0.number == number }) else { return }
            answers[index].evidence.results += results
            answers[index].isComplete = true
        case .learned: learning = nil
        case .prepared: preparing = nil
        }
    }

    private mutating func deliver(_ report: CheckReport, of job: Job) {
        contexts.note(report)
        if report.isVoid, contexts.repeatsVoidReports, !job.isRepeated, !Task.isCancelled {
            contexts.forget()
            queue.append(Job(number: job.number, target: job.target, freshness: .fresh, isRepeated: true))
        } else if open.remove(job.number) != nil {
            completion(job.number, .success(report))
        }
    }

    // MARK: Time

    /// True if another batch may start. A batch costs less than single starts.
    private var hasRoom: Bool {
        !queue.isEmpty && rounds < Self.limit && probing + answers.count + Self.batch <= Self.window
    }

    /// The time at which work is due without a message.
    private var moment: ContinuousClock.Instant? {
        let patience = order.first.flatMap { begun[$0] }.map { $0.clock.begun + contexts.targetsFirst }
        return [hasRoom ? pause : nil, patience].compactMap(\.self).min()
    }

    // MARK: Beginning

    private mutating func beginJobs() {
        pause = nil
        while hasRoom, pause == nil {
            let context: CheckContext
            do throws(CheckError) { context = try contexts.current() } catch {
                for job in queue where open.remove(job.number) != nil { completion(job.number, .failure(error)) }
                queue = []
                return
            }
            if !context.isEnough, context.isPrepared.take() { prepare(context, since: nil, after: .zero) }
            var batch: [(job: Job, address: IPAddress)] = []
            while batch.count < Self.batch, hasRoom, let job = queue.first {
                guard open.contains(job.number) else {
                    queue.removeFirst()
                    continue
                }
                let address = address(of: job.target, context)
                if !Task.isCancelled {
                    let wait = max(contexts.pace.start(), address == nil ? .zero : contexts.gate.start())
                    if wait > .zero {
                        pause = .now + wait
                        break
                    }
                }
                queue.removeFirst()
                if let address { batch.append((job, address)) } else { beginRound(job, context) }
            }
            if !batch.isEmpty { begin(batch, context) }
        }
        // An array slice keeps removed elements alive.
        if queue.isEmpty { queue = [] }
    }

    /// Returns the address of a target whose first probe can decide. Returns nil for other targets.
    private func address(of target: CheckTarget?, _ context: CheckContext) -> IPAddress? {
        let family = context.site.options.addressFamily
        guard !Task.isCancelled, let target, target.decidesAtOnce, let address = target.address,
            family ?? address.wire.family == address.wire.family
        else { return nil }
        return address
    }

    private mutating func begin(_ batch: [(job: Job, address: IPAddress)], _ context: CheckContext) {
        var jobs: [(number: Int, job: EngineJob)] = []
        for ((job, address), path) in zip(batch, context.site.paths(to: batch.map(\.address))) {
            // The kernel reports that there is no path, so no packet is sent.
            guard let path, path.status.isReachable, let target = job.target,
                let prober = try? context.site.prober(to: address, along: path)
            else {
                beginRound(job, context)
                continue
            }
            let number = job.number
            let mayEcho = context.mayEcho.withLock(\.self)
            let probe = RunningProbe(on: context.site.engine, replacesEcho: !mayEcho) { [messages] in
                messages.post(.ended(number, $0))
            }
            var one = started(job, context)
            let engineJob = prober.first(of: target, at: address, limit: one.clock.left, mayEcho: mayEcho) {
                probe.end($0)
            }
            guard let engineJob else {
                beginRound(job, context)
                continue
            }
            (one.first, one.isProbing) = ((probe, path), true)
            begun[number] = one
            jobs.append((number, engineJob))
            order.append(number)
            probing += 1
        }
        for (job, number) in zip(jobs, context.site.engine.begin(jobs.map(\.job))) {
            begun[job.number]?.first?.probe.begin(number)
        }
    }

    private func started(_ job: Job, _ context: CheckContext) -> StartedJob {
        let isFresh = contexts.isContinuous && (job.freshness == .fresh || job.target == nil)
        return StartedJob(job, context, isFresh: isFresh)
    }

    /// Starts a round for each target that has not answered in time.
    private mutating func startLateRounds() {
        while let number = order.first {
            if let job = begun[number], job.isProbing {
                guard Task.isCancelled || job.clock.elapsed >= contexts.targetsFirst else { return }
                begun[number]?.isProbing = false
                probing -= 1
                beginRound(number)
            }
            order.removeFirst()
        }
        order = []
    }

    private mutating func beginRound(_ job: Job, _ context: CheckContext) {
        begun[job.number] = started(job, context)
        beginRound(job.number)
    }

    private mutating func beginRound(_ number: Int) {
        guard let job = begun[number] else { return }
        rounds += 1
        // A target that has not answered so far probably does not answer at all.
        prepare(job.context, since: job.since, after: job.first == nil ? contexts.targetsFirst : .zero)
        let task = Task { [messages] in
            let report = { @Sendable () async -> CheckReport in
                await job.context.report(of: job.job.target, since: job.since, job.clock, first: job.first?.probe)
            }
            // A cancelled task gets no turn and sends no packet. Its round only collects the results so far.
            if let report = await Self.turns.during(report) {
                messages.post(.reported(number, report))
            } else {
                messages.post(.reported(number, await report()))
            }
        }
        if Task.isCancelled { task.cancel() }
        begun[number]?.task = task
    }

    // MARK: Reports

    /// Reports the targets that have answered and need no more probes.
    private mutating func report() {
        var (known, rest): ([Answer], [Answer]) = ([], [])
        for var answer in answers {
            complete(&answer)
            if answer.isComplete { known.append(answer) } else { rest.append(answer) }
        }
        answers = rest
        let jobs = known.compactMap { answer in begun.removeValue(forKey: answer.number).map { ($0, answer.evidence) } }
        for group in Dictionary(grouping: jobs, by: { ObjectIdentifier($0.0.context) }).values {
            let site = group[0].0.context.site
            for ((job, evidence), path) in zip(group, site.pathsNow(group.map(\.1.path))) {
                deliver(CheckReport(evidence, now: path, of: site, begun: job.clock.begun), of: job.job)
            }
        }
    }

    /// Adds the known results about the uplink to an answer if they matter, and starts the missing probes.
    private mutating func complete(_ answer: inout Answer) {
        guard !answer.isComplete, let job = begun[answer.number], job.task == nil else { return }
        let context = job.context
        var evidence = answer.evidence
        if !context.isEnough {
            guard let line = context.line.known(since: job.since) else { return follow(context.line, since: job.since) }
            evidence.take(line)
        }
        if TargetStage.isDoubtful(evidence) {
            guard let interception = context.interception.known() else { return follow(context.interception) }
            evidence.results += interception.results
        }
        let (results, round) = context.segmentResults(evidence)
        evidence.results += results
        answer.evidence = evidence
        answer.isComplete = round == nil
        if let round {
            let task = Task { [messages, number = answer.number] in
                messages.post(.tested(number, await context.run(round)))
            }
            begun[answer.number]?.task = task
        }
    }

    private mutating func follow(_ line: SharedLine, since: ContinuousClock.Instant? = nil) {
        guard learning == nil else { return }
        learning = Task { [messages] in
            _ = await line.outcome(since: since)
            messages.post(.learned)
        }
    }

    /// Starts the probes of the uplink before targets that do not answer need them.
    private mutating func prepare(_ context: CheckContext, since: ContinuousClock.Instant?, after pause: Duration) {
        guard preparing == nil, context.line.known(since: since) == nil else { return }
        preparing = Task { [messages] in
            await context.probeLine(since: since, after: pause)
            messages.post(.prepared)
        }
    }
}
