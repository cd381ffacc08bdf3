import LinuxPrimitives

/// What wakes one that sleeps. A ring is kept for one that is awake, and several are as good as one.
struct Bell: Sendable {
    private enum State {
        case silent
        case rung
        case listened(CheckedContinuation<Void, Never>)
    }

    private let state = Locked(State.silent)

    func ring() {
        let sleeper = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard case .listened(let sleeper) = state else {
                state = .rung
                return nil
            }
            state = .silent
            return sleeper
        }
        sleeper?.resume()
    }

    /// Returns when it rings or when the task is cancelled, at once if that was before. For one task at a time.
    func heard() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { sleeper in
                if !sleep(sleeper) { sleeper.resume() }
            }
        } onCancel: {
            ring()
        }
    }

    /// Whether it has not rung already.
    private func sleep(_ sleeper: CheckedContinuation<Void, Never>) -> Bool {
        state.withLock { state in
            if case .rung = state {
                state = .silent
                return false
            }
            state = .listened(sleeper)
            return true
        }
    }
}
