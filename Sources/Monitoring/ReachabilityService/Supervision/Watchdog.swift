import Dispatch
import LinuxSupport
package import NetworkReachability

/// Says again and again that a service lives, for as long as it is held, but only after it was shown: nothing is said from a timer
/// alone.
///
/// Thread-safe.
package final class Watchdog: Sendable {
    private struct State {
        var timer: Cancellation?
        /// Whether the proof was asked for and has not come.
        var isWaiting = false
    }

    private let clock: any MonitorClock
    private let pause: Duration
    private let prove: @Sendable (@escaping @Sendable (Bool) -> Void) -> Void
    private let tell: @Sendable () -> Void
    private let queue = DispatchQueue(label: "ReachabilityService.watchdog")
    private let state = Locked(State())

    /// - Parameters:
    ///   - limit: Whoever listens must hear after so long at the latest; it is told twice in that time.
    ///   - prove: Finds out whether the service does its work, and calls what it is given with that. While it has not, it is not
    ///     called again, and nothing is told.
    ///   - tell: Called on the thread of the proof when it lives.
    package init(
        limit: Duration,
        clock: any MonitorClock,
        prove: @escaping @Sendable (@escaping @Sendable (Bool) -> Void) -> Void,
        tell: @escaping @Sendable () -> Void
    ) {
        (self.clock, self.prove, self.tell) = (clock, prove, tell)
        pause = limit / 2
        schedule()
    }

    deinit {
        state.withLock { $0.timer.take() }?.cancel()
    }

    private func schedule() {
        let timer = clock.schedule(after: pause, on: queue) { [weak self] in self?.wake() }
        state.withLock { $0.timer = timer }
    }

    private func wake() {
        schedule()
        let isFirst = state.withLock { state in
            defer { state.isWaiting = true }
            return !state.isWaiting
        }
        guard isFirst else { return }
        prove { [weak self] isWell in
            guard let self else { return }
            state.withLock { $0.isWaiting = false }
            if isWell { tell() }
        }
    }
}
