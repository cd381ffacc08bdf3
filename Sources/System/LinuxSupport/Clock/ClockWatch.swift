import CLinux
package import Dispatch
import Glibc

/// Becomes readable when the machine wakes from sleep or somebody sets its clock, and never otherwise: the kernel
/// cancels the timer at both.
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

    /// Takes note of a cancellation and waits for the next.
    package func rearm() {
        var expirations: UInt64 = 0
        _ = read(timer.number, &expirations, MemoryLayout<UInt64>.size)
        try? arm()
    }

    private func arm() throws(SystemError) {
        // Far enough to never fire, near enough for every clock's arithmetic.
        var far = itimerspec()
        far.it_value.tv_sec = Int(SystemClock.real.components.seconds) + 100 * 365 * 86400
        let flags = CInt(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET)
        guard timerfd_settime(timer.number, flags, &far, nil) == 0 else { throw .current }
    }
}

/// A descriptor of the process that becomes readable when the machine wakes. It is open while it is watched.
package final class SleepWatch: Sendable {
    package static let shared = SleepWatch()

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

    /// Runs `action` on `queue` after each wake or change of the clock; nil when the kernel offers no such timer.
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
