import LinuxSupport

/// A probe that was begun without a task of its own. Its end is told to whoever began it, unless a round has taken it over. Thread-safe.
final class ProbeUnderWay: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<ProbeResult, Never>)
        case over(ProbeResult)
    }

    private let state = Locked(State.open)
    /// Of the engine.
    private let number = Locked<UInt64?>(nil)
    private let engine: SocketEngine
    private let tell: @Sendable (ProbeResult) -> Void

    /// - Parameter tell: is called on the engine's thread, once, and must not wait.
    init(on engine: SocketEngine, tell: @escaping @Sendable (ProbeResult) -> Void) {
        (self.engine, self.tell) = (engine, tell)
    }

    /// It has begun as this job of the engine.
    func begin(_ number: UInt64) {
        self.number.withLock { $0 = number }
    }

    func end(_ result: ProbeResult) {
        let waiting: CheckedContinuation<ProbeResult, Never>? = state.withLock { state in
            defer { state = .over(result) }
            if case .awaited(let waiting) = state { return waiting }
            return nil
        }
        if let waiting { waiting.resume(returning: result) } else { tell(result) }
    }

    /// Ends it, if it is not over.
    func cancel() {
        if let number = number.withLock({ $0 }) { engine.cancel(number) }
    }

    /// Waits for its end; for one task, which ends the probe when it is cancelled.
    func result() async -> ProbeResult {
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiting in
                let result: ProbeResult? = state.withLock { state in
                    if case .over(let result) = state { return result }
                    state = .awaited(waiting)
                    return nil
                }
                if let result { waiting.resume(returning: result) }
            }
        } onCancel: {
            cancel()
        }
    }
}
