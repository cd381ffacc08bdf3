package import Dispatch
import LinuxPrimitives

/// The machine's own time.
package struct SystemMonitorClock: MonitorClock {
    package init() {}

    package var monotonic: Duration { SystemClock.monotonic }
    package var boot: Duration { SystemClock.boot }

    package func schedule(
        after delay: Duration,
        on queue: DispatchQueue,
        _ action: @escaping @Sendable () -> Void
    ) -> Cancellation {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        let nanoseconds = Int(clamping: delay.nanoseconds)
        timer.schedule(deadline: .now() + .nanoseconds(nanoseconds), leeway: .nanoseconds(nanoseconds / 100))
        timer.setEventHandler(handler: action)
        timer.activate()
        let locked = Locked(timer)
        return Cancellation { locked.withLock { $0.cancel() } }
    }

    /// A timer that fires in a hundred years. Dispatch opens a descriptor for timers with the first one, and there may be none to spare when
    /// a retry must be timed; so one timer is always there.
    private static let anchor: Locked<any DispatchSourceTimer> = {
        let timer = DispatchSource.makeTimerSource()
        timer.schedule(deadline: .now() + .seconds(100 * 365 * 86_400))
        // Dispatch complains to the system's log of a source without one.
        timer.setEventHandler {}
        timer.activate()
        return Locked(timer)
    }()

    package func watchForSleep(on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) -> Cancellation? {
        _ = Self.anchor
        return SleepWatch.shared.add(on: queue, action)
    }
}
