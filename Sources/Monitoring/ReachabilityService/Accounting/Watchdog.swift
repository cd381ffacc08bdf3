import Dispatch
import LinuxSupport
package import NetworkReachability

/// Notifies the service manager at an interval that the service works, but only after a proof. Thread-safe.
package final class Watchdog: Sendable {
    private struct State {
        var timer: Cancellation?
        /// Whether a proof is under way.
        var isWaiting = false
    }

    private let clock: any MonitorClock
    private let pause: Duration
    private let prove: @Sendable (@escaping @Sendable (Bool) -> Void) -> Void
    private let tell: @Sendable () -> Void
    private let queue = DispatchQueue(label: "ReachabilityService.watchdog")
    private let state = Locked(State())

    /// - Parameters:
    ///   - limit: The maximum time between two notifications. Half of it is used.
    ///   - prove: Checks that the service works, and calls its argument with the result. It is not called again before that.
    ///   - tell: Sends a notification. Called on the thread of the proof.
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

extension MonitoringService {
    /// Passes through all stages of a change: the queue of each monitor with a query to the kernel, the accounts, the queue of events, and
    /// the history.
    ///
    /// If a stage hangs, `done` is never called. It is called with false if the kernel does not answer. No thread is blocked, nothing is
    /// changed and no packet is sent.
    package func roundTrip(through history: HistoryWriter?, _ done: @escaping @Sendable (Bool) -> Void) {
        let (trip, hasAnswered) = (DispatchGroup(), Locked(true))
        for monitor in monitors {
            monitor.queue.async(group: trip) {
                if !monitor.answers() { hasAnswered.withLock { $0 = false } }
            }
        }
        trip.notify(queue: eventQueue) { [weak self] in
            // The lock of the accounts.
            _ = self?.snapshot
            guard let history else { return done(hasAnswered.withLock(\.self)) }
            history.pass { done(hasAnswered.withLock(\.self)) }
        }
    }
}
