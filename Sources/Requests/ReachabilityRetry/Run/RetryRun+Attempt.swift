import LinuxPrimitives

/// What cut an attempt short.
enum AttemptCut {
    /// The request ends.
    case end(RetryError.Ending)
    /// It could not succeed.
    case failed(any RetryableError)
}

extension RetryRun {
    /// Makes one attempt, which is cancelled at the deadline, by a shutdown, and where it cannot be connected; returns when it has
    /// ended, and its result is there.
    ///
    /// - Returns: What put an end to the request, if the attempt was not let run to its end.
    func attempt() async -> RetryError.Ending? {
        let signal = WakeSignal()
        let latest = Locked<AttemptResult<Value>>(.failed(CancellationError()))
        defer { result = latest.withLock { $0 } }
        guard let registration = coordinator.beginAttempt(signal) else { return .shutDown }
        defer { coordinator.endAttempt(registration) }
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
        let context = nextContext
        let cut = await withTaskGroup(of: AttemptEvent.self) { group in
            group.addTask { [attempt = work.attempt] in
                let result = await attempt(context)
                latest.withLock { $0 = result }
                return .ended
            }
            group.addTask { [coordinator, target, deadline, clock] in
                let cut = await coordinator.cut(of: connecting, at: target.host, until: deadline, on: clock, signal)
                return cut.map { .cut($0) } ?? .nothing
            }
            var cut: AttemptCut?
            while let event = await group.next() {
                if case .nothing = event { continue }
                if case .cut(let first) = event, cut == nil { cut = first }
                group.cancelAll()
                // What happens after the end cuts nothing short.
                if case .ended = event { break }
            }
            return cut
        }
        switch cut {
        case .end(let ending): return ending
        case .failed(let failure):
            latest.withLock { replace(&$0, with: failure) }
            return nil
        case nil: return nil
        }
    }

    /// Tells of an attempt that was cancelled why it was; one that has ended by itself at the same moment is left as it is.
    private func replace(_ result: inout AttemptResult<Value>, with failure: any RetryableError) {
        guard case .failed(is CancellationError) = result, !Task.isCancelled else { return }
        // It may have been sent in the very moment it was cancelled.
        guard work.progress?.hasSent == false else {
            result = .failed(failure.failureStage == .neverSent ? SentRequest(cause: failure) : failure)
            return
        }
        work.progress?.cut()
        result = .failed(failure)
    }
}

/// What may happen while an attempt is made.
private enum AttemptEvent {
    case ended
    case cut(AttemptCut)
    case nothing
}
