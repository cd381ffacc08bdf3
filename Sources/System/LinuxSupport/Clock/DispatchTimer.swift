package import Dispatch

/// A timer of Dispatch's, which stands still while the machine sleeps.
package enum DispatchTimer {
    /// Runs `action` once on `queue` after `delay`, unless cancelled before.
    package static func schedule(
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

    /// Sees to it that timers can be made later. Dispatch opens a descriptor for timers with the first one, and there may be none to
    /// spare then; so one timer is always there.
    package static func prepare() { _ = anchor }

    /// Fires in a hundred years.
    private static let anchor: Locked<any DispatchSourceTimer> = {
        let timer = DispatchSource.makeTimerSource()
        timer.schedule(deadline: .now() + .seconds(100 * 365 * 86_400))
        // Dispatch complains to the system's log of a source without one.
        timer.setEventHandler {}
        timer.activate()
        return Locked(timer)
    }()
}
