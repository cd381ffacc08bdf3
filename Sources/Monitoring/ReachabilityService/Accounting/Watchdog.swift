import Dispatch
import LinuxSupport
package import NetworkReachability

/// A timer that sends keep-alive notifications to the service manager, each only after a self-test. Thread-safe.
package final class Watchdog: Sendable {
    private struct State {
        var timer: Cancellation?
        /// A Boolean value that indicates whether a self-test is running.
        var isWaiting = false
    }

    private let clock: any MonitorClock
    private let pause: Duration
    private let selfTest: @Sendable (@escaping @Sendable (Bool) -> Void) -> Void
    private let notify: @Sendable () -> Void
    private let queue = DispatchQueue(label: "ReachabilityService.watchdog")
    private let state = Locked(State())

    /// - Parameters:
    ///   - limit: The maximum time between two notifications. The interval is half of it.
    ///   - selfTest: Starts the self-test, which calls its argument with the result. No further test starts before that.
    ///   - notify: Sends a notification. Called on the thread on which the self-test ends.
    package init(
        limit: Duration,
        clock: any MonitorClock,
        selfTest: @escaping @Sendable (@escaping @Sendable (Bool) -> Void) -> Void,
        notify: @escaping @Sendable () -> Void
    ) {
        (self.clock, self.selfTest, self.notify) = (clock, selfTest, notify)
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
        selfTest { [weak self] isWell in
            guard let self else { return }
            state.withLock { $0.isWaiting = false }
            if isWell { notify() }
        }
    }
}

extension MonitoringService {
    /// Runs a self-test through all stages that a change passes: the queue of each monitor (with a query to the kernel), the queue of
    /// events, the accounts, and the history.
    ///
    /// The test blocks no thread, changes nothing and sends no packet.
    ///
    /// - Parameter done: Called with true if all stages work, and with false if the kernel does not answer. Never called if a stage hangs.
    package func roundTrip(through history: HistoryWriter?, _ done: @escaping @Sendable (Bool) -> Void) {
        let (trip, hasAnswered) = (DispatchGroup(), Locked(true))
        for monitor in monitors {
            monitor.queue.async(group: trip) {
                if !monitor.answers() { hasAnswered.withLock { $0 = false } }
            }
        }
        trip.notify(queue: eventQueue) { [weak self] in
            // Reading the snapshot shows that the lock of the accounts is not held forever.
            _ = self?.snapshot
            guard let history else { return done(hasAnswered.withLock(\.self)) }
            history.pass { done(hasAnswered.withLock(\.self)) }
        }
    }
}
