import LinuxSupport

/// Places in line.
extension RetryCoordinator {
    /// A place that was not given.
    struct Refusal: Error {
        let ending: RetryError.Ending
    }

    func add(
        _ pause: ReleaseQueue<WakeSignal>.Pause,
        _ target: RetryTarget,
        _ signal: WakeSignal
    ) -> Result<UInt64, Refusal> {
        state.withLock { state in
            guard state.shutdown != .cancel else { return .failure(Refusal(ending: .shutDown)) }
            guard let count = state.lanes[target.host]?.queue.count, count < limits.maximumWaiting,
                let ticket = state.lanes[target.host]?.queue.add(target.priority, pause: pause, signal: signal)
            else { return .failure(Refusal(ending: .tooManyWaiting)) }
            return .success(ticket)
        }
    }

    func step(_ ticket: UInt64, of target: RetryTarget) -> (ReleaseQueue<WakeSignal>.Step, isShutDown: Bool) {
        let now = timeline.now
        let (step, wake, isShutDown) = state.withLock { state in
            let (step, wake) = state.lanes[target.host]?.queue.step(ticket, now: now, &state.pace) ?? (.go, nil)
            return (step, wake, state.shutdown == .cancel)
        }
        wake?.send()
        if step == .probe { tell(.probing(target)) }
        return (step, isShutDown)
    }

    func putBack(_ ticket: UInt64, _ target: RetryTarget, _ signal: WakeSignal) {
        state.withLock { $0.lanes[target.host]?.queue.putBack(ticket, target.priority, signal: signal) }
    }

    func remove(_ ticket: UInt64, from host: String?) {
        let wake = state.withLock { $0.lanes[host]?.queue.remove(ticket) }
        wake?.send()
    }
}
