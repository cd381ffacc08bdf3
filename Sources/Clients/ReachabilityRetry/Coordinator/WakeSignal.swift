import LinuxSupport

/// What wakes one that sleeps. A signal is kept for one that is awake, and several are as good as one.
struct WakeSignal: Sendable {
    private enum State {
        case idle
        case pending
        case awaited(CheckedContinuation<Void, Never>)
    }

    private let state = Locked(State.idle)

    func send() {
        let sleeper = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard case .awaited(let sleeper) = state else {
                state = .pending
                return nil
            }
            state = .idle
            return sleeper
        }
        sleeper?.resume()
    }

    /// Returns when it is sent or when the task is cancelled, at once if that was before. For one task at a time.
    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { sleeper in
                if !sleep(sleeper) { sleeper.resume() }
            }
        } onCancel: {
            send()
        }
    }

    /// Whether it has not been sent already.
    private func sleep(_ sleeper: CheckedContinuation<Void, Never>) -> Bool {
        state.withLock { state in
            if case .pending = state {
                state = .idle
                return false
            }
            state = .awaited(sleeper)
            return true
        }
    }
}
