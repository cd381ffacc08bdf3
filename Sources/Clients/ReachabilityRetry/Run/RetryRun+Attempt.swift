import LinuxSupport

/// What cut an attempt short.
enum AttemptCut {
    /// The request ends.
    case end(RetryError.Ending)
    /// It could not succeed.
    case failed(any RetryableError)
}

extension RetryRun {
    /// Makes one attempt, and nothing else, on behalf of another run, which waits, counts and judges.
    ///
    /// - Parameter isProbe: Whether it is to show whether the monitor is right.
    /// - Returns: What put an end to it, if it was not let run to its end; its result is there.
    func once(isProbe: Bool) async -> RetryError.Ending? {
        self.isProbe = isProbe
        defer { entry.leave() }
        return await attempt()
    }

    /// Makes one attempt, which is cancelled at the deadline, by a shutdown, and where it cannot be connected; returns when it has
    /// ended, and its result is there.
    ///
    /// - Returns: What put an end to the request, if the attempt was not let run to its end.
    func attempt() async -> RetryError.Ending? {
        work.progress?.begin()
        let connecting = work.progress.map {
            ConnectingAttempt(
                progress: $0,
                entry: entry,
                limit: work.connectTimeout,
                began: clock.now,
                isProbe: isProbe,
                isRepeatable: target.isRepeatable
            )
        }
        let (ended, cut) = await untilCut(of: connecting) { [attempt = work.attempt, context = nextContext] in
            await attempt(context)
        }
        var result = ended ?? .failed(CancellationError())
        defer { self.result = result }
        switch cut {
        case .end(let ending): return ending
        case .failed(let failure): replace(&result, with: failure)
        case nil: break
        }
        return nil
    }

    /// Does something that takes its time, and cancels it at the deadline, by a shutdown, and where the attempt cannot succeed; returns
    /// when it has ended.
    ///
    /// - Returns: What came of it, nil where it was not begun any more; and what cut it short.
    func untilCut<Answer: Sendable>(
        of connecting: ConnectingAttempt? = nil,
        _ work: @escaping @Sendable () async -> Answer
    ) async -> (answer: Answer?, cut: AttemptCut?) {
        let signal = WakeSignal()
        guard let registration = coordinator.beginWork(signal) else { return (nil, .end(.shutDown)) }
        defer { coordinator.endWork(registration) }
        let answer = Locked<Answer?>(nil)
        let cut = await withTaskGroup(of: Void.self) { group in
            group.addTask {
                let ended = await work()
                answer.withLock { $0 = ended }
                signal.send()
            }
            defer { group.cancelAll() }
            return await coordinator.cut(of: connecting, at: target.host, until: deadline, on: clock, signal) {
                answer.withLock { $0 != nil }
            }
        }
        return (answer.withLock { $0 }, cut)
    }

    /// Tells of an attempt that was cancelled why it was; one that has ended by itself at the same moment is left as it is.
    private func replace(_ result: inout AttemptResult<Value>, with failure: any RetryableError) {
        guard case .failed(is CancellationError) = result, !Task.isCancelled else { return }
        // It may have been sent in the very moment it was cancelled.
        guard work.progress?.hasSent == false else {
            result = .failed(failure.failureStage == .neverSent ? AttemptError.sent(failure) : failure)
            return
        }
        work.progress?.cut()
        result = .failed(failure)
    }
}
