package import Dispatch
package import LinuxPrimitives

/// The machine's own time.
package struct SystemMonitorClock: MonitorClock {
    package init() {}

    package var monotonic: Duration { SystemClock.monotonic }
    package var boot: Duration { SystemClock.boot }

    package func schedule(
        after delay: Duration,
        on queue: DispatchQueue,
        _ action: @escaping @Sendable () -> Void
    ) -> Cancellation { DispatchTimer.schedule(after: delay, on: queue, action) }

    package func watchForSleep(on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) -> Cancellation? {
        // A retry must be timed also when there are no descriptors left.
        DispatchTimer.prepare()
        return SleepWatch.shared.add(on: queue, action)
    }
}
