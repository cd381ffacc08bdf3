import CLinux
package import Dispatch
import Glibc

/// A timer descriptor that becomes readable when the machine resumes from sleep or the wall clock is set. In both cases
/// the kernel cancels the timer. It never expires.
///
/// C counterpart: `timerfd_create(2)` with TFD_TIMER_CANCEL_ON_SET.
package final class ClockWatch: Sendable {
    private let timer: Descriptor

    package init() throws(SystemError) {
        let number = timerfd_create(CLOCK_REALTIME, CInt(TFD_CLOEXEC | TFD_NONBLOCK))
        guard number >= 0 else { throw .current }
        timer = Descriptor(owning: number)
        try arm()
    }

    package var descriptor: CInt { timer.number }

    /// Clears a cancellation and arms the timer again.
    package func rearm() {
        var expirations: UInt64 = 0
        _ = read(timer.number, &expirations, MemoryLayout<UInt64>.size)
        try? arm()
    }

    private func arm() throws(SystemError) {
        // A time that is never reached, but does not overflow the arithmetic of any clock.
        var far = itimerspec()
        far.it_value.tv_sec = Int(SystemClock.real.components.seconds) + 100 * 365 * 86400
        let flags = CInt(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET)
        guard timerfd_settime(timer.number, flags, &far, nil) == 0 else { throw .current }
    }
}

/// A notifier of resume and of changes of the wall clock, shared by the whole process. The descriptor is open while
/// there are observers.
package final class ResumeNotifier: Sendable {
    package static let shared = ResumeNotifier()

    private struct Observer {
        let queue: DispatchQueue
        let action: @Sendable () -> Void
    }

    private struct State {
        var observers: [UInt64: Observer] = [:]
        var next: UInt64 = 0
        var source: Cancellation?
    }

    private let state: Locked<State> = Locked(State())
    private let queue = DispatchQueue(label: "LinuxSupport.sleep")

    /// Runs `action` on `queue` after each resume or change of the wall clock. Returns nil if the timer cannot be
    /// created.
    package func add(on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) -> Cancellation? {
        let identifier: UInt64? = state.withLock { state in
            if state.source == nil { state.source = makeSource() }
            guard state.source != nil else { return nil }
            state.next += 1
            state.observers[state.next] = Observer(queue: queue, action: action)
            return state.next
        }
        guard let identifier else { return nil }
        return Cancellation { [self] in remove(identifier) }
    }

    private func remove(_ identifier: UInt64) {
        let (observer, source): (Observer?, Cancellation?) = state.withLock { state in
            let observer = state.observers.removeValue(forKey: identifier)
            guard state.observers.isEmpty else { return (observer, nil) }
            defer { state.source = nil }
            return (observer, state.source)
        }
        source?.cancel()
        withExtendedLifetime(observer) {}
    }

    private func makeSource() -> Cancellation? {
        guard let watch = try? ClockWatch() else { return nil }
        return ReadSource.watch(watch.descriptor, of: watch, on: queue) { [self] in
            watch.rearm()
            for observer in state.withLock({ Array($0.observers.values) }) {
                observer.queue.async(execute: observer.action)
            }
        }
    }
}

/// A timer of Dispatch. It does not advance while the machine sleeps.
package enum DispatchTimer {
    /// Runs `action` once on `queue` after `delay`, unless it is cancelled before.
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

    /// Creates a permanent timer. Dispatch opens a descriptor with its first timer, and later there may be no free
    /// descriptor.
    package static func prepare() { _ = anchor }

    /// A timer that fires in 100 years.
    private static let anchor: Locked<any DispatchSourceTimer> = {
        let timer = DispatchSource.makeTimerSource()
        timer.schedule(deadline: .now() + .seconds(100 * 365 * 86_400))
        // Dispatch logs a complaint about a source without a handler.
        timer.setEventHandler {}
        timer.activate()
        return Locked(timer)
    }()
}
