import LinuxSupport

/// Executes a ``CheckSchedule``: passes events and the time to it, and performs its actions. When ``run`` returns, all its tasks have
/// ended.
struct CheckSession: Sendable {
    /// The operations of a schedule. A cancelled operation must end soon, with any result.
    struct Work: Sendable {
        /// Returns the events of the line. The first one is its path. See ``LineEvents``.
        var events: @Sendable () -> AsyncStream<ScheduleEvent>
        var runRound: @Sendable (RoundKind) async -> (CheckVerdict, ProbeCost)
        /// Queries the kernel. See ``PassiveProof``.
        var observe: @Sendable () async -> PassiveFinding
    }

    private let schedule: CheckSchedule
    private let work: Work
    private let clock: Timeline

    /// - Parameter clock: The clock of the schedule. It must advance while the machine is suspended.
    init(_ schedule: CheckSchedule, clock: some Clock<Duration> = ContinuousClock(), work: Work) {
        (self.schedule, self.work, self.clock) = (schedule, work, Timeline(clock))
    }

    /// Runs the schedule until the task is cancelled.
    ///
    /// - Parameters:
    ///   - notify: Receives each verdict that differs from the previous one.
    ///   - answer: Receives each success, if a caller waits for it.
    func run(
        notify: (CheckVerdict) -> Void = { _ in },
        answer: (CheckVerdict) -> Void = { _ in }
    ) async {
        let (events, inbox) = AsyncStream.makeStream(of: ScheduleEvent.self)
        var schedule = schedule
        await withDiscardingTaskGroup { group in
            group.addTask { [work] in
                for await event in work.events() { inbox.yield(event) }
            }
            var (timer, round): (CancellableChild?, CancellableChild?)
            for await event in events {
                for action in schedule.handle(event, at: clock.now) {
                    switch action {
                    case .arm(let time):
                        timer?.cancel()
                        timer = time.map { time in
                            CancellableChild(in: &group) { [clock] in
                                if (try? await clock.sleep(until: time)) != nil { inbox.yield(.timer) }
                            }
                        }
                    case .observe: group.addTask { [work] in inbox.yield(.observed(await work.observe())) }
                    case .run(let kind):
                        round = CancellableChild(in: &group) { [work] in
                            let (verdict, cost) = await work.runRound(kind)
                            inbox.yield(.roundEnded(verdict, cost))
                        }
                    case .cancelRound: round?.cancel()
                    case .notify(let verdict): notify(verdict)
                    case .answer(let verdict): answer(verdict)
                    }
                }
            }
            group.cancelAll()
        }
    }
}

/// A child task that can be cancelled before the others of its group.
private struct CancellableChild: Sendable {
    private let stop: AsyncStream<Never>.Continuation

    init(in group: inout DiscardingTaskGroup, _ work: @escaping @Sendable () async -> Void) {
        let (stopped, stop) = AsyncStream.makeStream(of: Never.self)
        self.stop = stop
        group.addTask {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await work() }
                group.addTask { for await _ in stopped {} }
                // The child that ends first ends the other.
                await group.next()
                group.cancelAll()
            }
        }
    }

    func cancel() { stop.finish() }
}

/// The verdicts of a continuous check as an asynchronous sequence: the first verdict, and then each one that differs from the previous one.
/// The sequence never fails. It ends with the loop or its task. Each loop has its own session, which ends with the loop.
struct CheckVerdicts: AsyncSequence, Sendable {
    typealias Element = CheckVerdict
    typealias Failure = Never

    private let makeSession: @Sendable () -> CheckSession

    init(_ makeSession: @escaping @Sendable () -> CheckSession) {
        self.makeSession = makeSession
    }

    func makeAsyncIterator() -> Iterator {
        // A slow reader gets the newest verdict.
        let (stream, listener) = AsyncStream.makeStream(of: CheckVerdict.self, bufferingPolicy: .bufferingNewest(1))
        let session = makeSession()
        let task = Task {
            await session.run(notify: { listener.yield($0) })
            listener.finish()
        }
        listener.onTermination = { _ in task.cancel() }
        return Iterator(stream: stream.makeAsyncIterator())
    }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate var stream: AsyncStream<CheckVerdict>.Iterator
        private var last: CheckVerdict?

        fileprivate init(stream: AsyncStream<CheckVerdict>.Iterator) {
            self.stream = stream
        }

        mutating func next() async -> CheckVerdict? { await next(isolation: #isolation) }

        /// Returns the next verdict that differs from the last one; nil if the task is cancelled. Comparing is needed because a slow reader
        /// may miss the verdicts in between.
        mutating func next(isolation actor: isolated (any Actor)?) async -> CheckVerdict? {
            while let verdict = await stream.next(isolation: actor) {
                if last?.isSame(as: verdict) == true { continue }
                last = verdict
                return verdict
            }
            return nil
        }
    }
}
