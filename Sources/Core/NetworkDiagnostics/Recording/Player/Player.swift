package import Dispatch
import LinuxPrimitives
import Netlink
package import NetworkReachability

/// Plays a recording to a monitor: the outside world answers as it did, and things happen in the order in which they did.
///
/// Where the monitor asks just what it asked then, every answer, every time and so every line is the same. Where it does not,
/// because another version decides otherwise, the nearest answer in time counts, and `diagnosis` says if there was none.
package final class Player: Sendable {
    let state: Locked<State>
    let header: RecordingHeader
    /// So much that the recording knows nothing of is done from one turn to the next; the rest waits.
    private static let unrecordedLimit = 64
    /// So long after the last turn goes what happens once nobody listens.
    private static let afterwards = Duration.seconds(1)

    package init(_ recording: Recording) {
        header = recording.header
        state = Locked(State(recording))
    }

    /// The recorded world.
    package var environment: MonitorEnvironment {
        var environment = MonitorEnvironment(
            kernel: PlayedKernel(self),
            clock: PlayedClock(self),
            resolver: PlayedResolver(self)
        )
        environment.filtersRoutes = header.filtersRoutes
        return environment
    }

    /// Plays everything, and returns at its end.
    ///
    /// - Parameters:
    ///   - queue: The monitor's queue. Do not call this on it.
    ///   - pause: Called with how much time is to pass before what comes next, outside the queue.
    ///   - begin: Lets everybody begin to listen.
    package func run(on queue: DispatchQueue, pause: (Duration) -> Void = { _ in }, begin: @escaping () -> Void) {
        var hasBegun = false
        while let (time, cause, burst) = nextTurn(on: queue) {
            pause(time - state.withLock { $0.now })
            state.withLock { $0.enter(time) }
            queue.sync {
                switch cause {
                case .start:
                    if !hasBegun { begin() }
                    hasBegun = true
                default: perform(cause, burst)
                }
                // Heard while somebody waited who does not wait any more.
                while let burst = state.withLock({ $0.takeBurst() }) { deliver(burst) }
            }
            runUnrecorded(until: time, on: queue)
        }
    }

    /// Lets the monitor do what it does once nobody listens any more, and forgets the rest. Call it when all listeners are gone.
    ///
    /// - Parameter queue: The monitor's queue. Do not call this on it.
    package func end(on queue: DispatchQueue) {
        // What listeners leave behind is queued behind the monitor's own work.
        queue.sync {}
        runUnrecorded(until: state.withLock { $0.now } + Self.afterwards, on: queue)
        let over = state.withLock { $0.forgetActions() }
        withExtendedLifetime(over) {}
    }

    /// The time a line is to be printed with: that of the recording where it printed one too.
    package func moment() -> RecordedMoment {
        state.withLock { $0.moment() }
    }

    /// What was asked that the recording does not answer, in one sentence; nil for nothing.
    package var diagnosis: String? {
        state.withLock { state in
            guard let first = state.missing.first else { return nil }
            let others = state.missing.count - 1
            let and = others == 0 ? " was" : " and \(others) other question\(others == 1 ? "" : "s") were"
            return "\(first)\(and) never asked in the recording: the nearest answer there was counts"
        }
    }

    /// Goes on to the next turn, after what is due before and was not recorded.
    private func nextTurn(
        on queue: DispatchQueue
    ) -> (time: Duration, cause: RecordedCause, burst: EventBurst)? {
        guard let time = state.withLock({ $0.nextTime }) else { return nil }
        runUnrecorded(until: time, on: queue)
        return state.withLock { state in
            guard let turn = state.nextTurn(), let cause = turn.cause else { return nil }
            return (turn.time, cause, turn.burst)
        }
    }

    private func runUnrecorded(until time: Duration, on queue: DispatchQueue) {
        // Where answers do not fit, one attempt may lead to the next without any time passing.
        for _ in 0..<Self.unrecordedLimit {
            guard let action = state.withLock({ $0.takeUnrecorded(until: time) }) else { return }
            queue.sync { action.run() }
        }
    }

    private func perform(_ cause: RecordedCause, _ burst: EventBurst) {
        switch cause {
        case .start: break
        case .rung: deliver(burst)
        case .fired(let number): state.withLock { $0.timers.removeValue(forKey: number) }?.run()
        case .resolved(let number, let names):
            state.withLock { $0.questions.removeValue(forKey: number) }?(names.result)
        case .namespaceChanged: state.withLock { $0.namespaceChanged }?()
        case .woke: state.withLock { $0.woke }?()
        case .namesChanged: state.withLock { $0.namesChanged }?()
        }
    }

    private func deliver(_ burst: EventBurst) {
        if burst.isEmpty { return }
        state.withLock { $0.heard }?(burst)
    }
}
