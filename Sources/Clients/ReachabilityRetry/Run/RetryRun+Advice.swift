extension RetryRun {
    /// Asks the coordinator's advisor, if it has one and the network may be at fault.
    ///
    /// - Returns: What is advised, or why no further attempt is made.
    @inline(never)
    func advice() async -> Result<RetryAdvice, RetryCoordinator.Refusal> {
        guard let advisor = coordinator.advisor, let last = attempts.last, last.reason != .unreachable,
            last.stage?.isOfNetwork == true
        else { return .success(.goOn) }
        return await asking { [host = target.host] in await advisor.advice(for: host) }
    }

    /// Waits for what the advisor wants to be waited for.
    ///
    /// - Returns: Why no further attempt is made; nil where it is over.
    @inline(never)
    func waitForEndOfObstacle() async -> RetryError.Ending? {
        guard let advisor = coordinator.advisor else { return nil }
        let end: Result<Void, RetryCoordinator.Refusal> = await asking { [host = target.host] in
            await advisor.waitForEnd(of: host)
        }
        if case .failure(let refusal) = end { return refusal.ending }
        return nil
    }

    /// Asks somebody who may take his time: until the deadline, or a shutdown.
    func asking<Answer: Sendable>(
        _ ask: @escaping @Sendable () async -> Answer
    ) async -> Result<Answer, RetryCoordinator.Refusal> {
        let (answer, cut) = await untilCut(ask)
        if case .end(let ending)? = cut { return .failure(.init(ending: ending)) }
        return answer.map { .success($0) } ?? .failure(.init(ending: .cancelled))
    }
}
