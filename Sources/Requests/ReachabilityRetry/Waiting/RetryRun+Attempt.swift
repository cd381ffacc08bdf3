import LinuxPrimitives

/// What cut an attempt short.
enum AttemptCut {
    /// The request ends.
    case end(RetryError.Ending)
    /// It could not succeed, and has sent nothing.
    case unsent(UnsentAttempt)
}

extension RetryRun {
    /// Makes one attempt, which is cancelled at the deadline, by a shutdown, and where it cannot be connected; returns when it has
    /// ended, and its result is there.
    ///
    /// - Returns: What put an end to the request, if the attempt was not let run to its end.
    func attempt(_ number: Int) async -> RetryError.Ending? {
        let signal = WakeSignal()
        let latest = Locked<Result<Value, any Error>>(.failure(CancellationError()))
        defer { result = latest.withLock { $0 } }
        guard let registration = coordinator.beginAttempt(signal) else { return .shutDown }
        defer { coordinator.endAttempt(registration) }
        progress?.begin()
        let connecting = progress.map {
            ConnectingAttempt(progress: $0, entry: entry, limit: connectTimeout, began: clock.now)
        }
        let cut = await withTaskGroup(of: AttemptEvent.self) { group in
            group.addTask { [operation] in
                do {
                    let value = try await operation(number)
                    latest.withLock { $0 = .success(value) }
                } catch {
                    latest.withLock { $0 = .failure(error) }
                }
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
        case .unsent(let failure):
            latest.withLock { replace(&$0, with: failure) }
            return nil
        case nil: return nil
        }
    }

    /// Tells of an attempt that was cancelled why it was; one that has ended by itself at the same moment is left as it is.
    private func replace(_ result: inout Result<Value, any Error>, with failure: UnsentAttempt) {
        guard case .failure(is CancellationError) = result, !Task.isCancelled else { return }
        // It may have been sent in the very moment it was cancelled.
        guard progress?.hasSent == false else {
            result = .failure(SentRequest(cause: failure))
            return
        }
        progress?.cut()
        result = .failure(failure)
    }
}

/// What may happen while an attempt is made.
private enum AttemptEvent {
    case ended
    case cut(AttemptCut)
    case nothing
}
