import LinuxSupport

extension RetryCoordinator {
    /// Ends the coordinator for good, and returns when nothing is under way any more, or when the task is cancelled.
    ///
    /// From now on `withRetry` throws ``RetryError/Ending/shutDown`` without an attempt. A drain can be followed by a cancel:
    /// to give it a time limit, cancel the task that drains and call it again.
    public func shutDown(_ mode: RetryShutdown) async {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let signals = state.withLock { state -> [WakeSignal] in
            if state.shutdown != .cancel { state.shutdown = mode }
            if state.active == 0 { end.finish() } else { state.observers.append(end) }
            guard mode == .cancel else { return [] }
            return Array(state.works.values) + state.lanes.values.flatMap(\.queue.signals)
        }
        for signal in signals { signal.send() }
        for await _ in ends {}
    }

    /// Counts one more call; false if there are to be none.
    func begin() -> Bool {
        state.withLock { state in
            guard state.shutdown == nil else { return false }
            state.active += 1
            return true
        }
    }

    /// One of the calls is at its end.
    func end() {
        let observers = state.withLock { state -> [AsyncStream<Void>.Continuation] in
            state.active -= 1
            guard state.active == 0 else { return [] }
            defer { state.observers = [] }
            return state.observers
        }
        for observer in observers { observer.finish() }
    }

    /// Something begins, an attempt for example, which a shutdown wakes through the signal; nil if that is over already.
    func beginWork(_ signal: WakeSignal) -> UInt64? {
        state.withLock { state in
            guard state.shutdown != .cancel else { return nil }
            state.lastWork += 1
            state.works[state.lastWork] = signal
            return state.lastWork
        }
    }

    func endWork(_ number: UInt64) {
        state.withLock { $0.works[number] = nil }
    }
}

/// How a coordinator ends.
public enum RetryShutdown: Hashable, Sendable {
    /// What is under way goes on to its own end; nothing new begins.
    case drain
    /// Attempts under way are cancelled, and nobody waits any longer.
    case cancel
}
