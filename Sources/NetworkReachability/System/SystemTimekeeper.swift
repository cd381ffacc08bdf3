import Dispatch
import Netlink

/// The machine's own time.
struct SystemTimekeeper: Timekeeper {
    var monotonic: Duration { SystemClock.monotonic }
    var boot: Duration { SystemClock.boot }

    func schedule(
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

    func watchForSleep(on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) -> Cancellation? {
        SleepWatch.shared.add(on: queue, action)
    }
}
