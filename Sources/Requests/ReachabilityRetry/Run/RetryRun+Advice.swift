import LinuxPrimitives

extension RetryRun {
    /// Asks the coordinator's advisor, if it has one and the network may be at fault.
    ///
    /// - Returns: What is advised, or why no further attempt is made.
    @inline(never)
    func advice() async -> Result<RetryAdvice, RetryCoordinator.Refusal> {
        guard let advisor = coordinator.advisor, let last = attempts.last, last.reason != .unreachable,
            last.stage?.isOfNetwork == true
        else { return .success(.goOn) }
        return await untilCut { [host = target.host] in await advisor.advice(for: host) }
    }

    /// Waits for what the advisor wants to be waited for.
    ///
    /// - Returns: Why no further attempt is made; nil where it is over.
    @inline(never)
    func waitForEndOfObstacle() async -> RetryError.Ending? {
        guard let advisor = coordinator.advisor else { return nil }
        let end: Result<Bool, RetryCoordinator.Refusal> = await untilCut { [host = target.host] in
            await advisor.waitForEnd(of: host)
            return true
        }
        if case .failure(let refusal) = end { return refusal.ending }
        return nil
    }

    /// Asks somebody who may take his time: until the deadline, or a shutdown.
    func untilCut<Answer: Sendable>(
        _ ask: @escaping @Sendable () async -> Answer
    ) async -> Result<Answer, RetryCoordinator.Refusal> {
        let signal = WakeSignal()
        guard let registration = coordinator.beginAttempt(signal) else { return .failure(.init(ending: .shutDown)) }
        defer { coordinator.endAttempt(registration) }
        return await withTaskGroup(of: Result<Answer, RetryCoordinator.Refusal>?.self) { group in
            group.addTask { .success(await ask()) }
            group.addTask { [coordinator, target, deadline, clock] in
                let cut = await coordinator.cut(of: nil, at: target.host, until: deadline, on: clock, signal)
                if case .end(let ending)? = cut { return .failure(.init(ending: ending)) }
                return nil
            }
            while let event = await group.next() {
                guard let event else { continue }
                group.cancelAll()
                return event
            }
            return .failure(.init(ending: .cancelled))
        }
    }
}
