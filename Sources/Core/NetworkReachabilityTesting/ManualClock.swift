package import Dispatch
package import LinuxSupport
import NetworkReachability

/// A clock that a test advances.
///
/// Thread-safe. Call `advance(by:)` and `sleep(for:)` from the test, never on a queue on which actions run, because
/// these methods wait until the actions have run.
public final class ManualClock: Sendable {
    package struct Timer {
        package let deadline: Duration
        let queue: DispatchQueue
        let action: @Sendable () -> Void
    }

    package struct State {
        package var monotonic: Duration
        package var boot: Duration
        package var timers: [UInt64: Timer] = [:]
        var count: UInt64 = 0

        /// Advances the time. Never moves it back.
        mutating func move(to time: Duration) {
            boot += max(.zero, time - monotonic)
            monotonic = max(monotonic, time)
        }
    }

    package let state: Locked<State>
    private let sleepers = Watchers()

    /// Creates a clock.
    ///
    /// - Parameter start: The time since the start of the machine.
    public init(start: Duration = .seconds(1000)) {
        state = Locked(State(monotonic: start, boot: start))
    }

    /// The time since the start of the machine, without the time that it slept (CLOCK_MONOTONIC).
    public var monotonic: Duration { state.withLock { $0.monotonic } }

    /// The time since the start of the machine, including the time that it slept (CLOCK_BOOTTIME).
    public var boot: Duration { state.withLock { $0.boot } }

    /// Advances the clock, runs the actions that become due, each at its time, and waits for them.
    public func advance(by duration: Duration) {
        precondition(duration >= .zero, "time does not go back")
        let end = monotonic + duration
        while let timer = nextTimer(upTo: end) { timer.queue.runAndWait(timer.action) }
    }

    /// Simulates a sleep of the machine: only the boot clock advances, and no action becomes due.
    public func sleep(for duration: Duration) {
        precondition(duration >= .zero, "time does not go back")
        state.withLock { $0.boot += duration }
        sleepers.run(waits: true)
    }

    /// Advances the clock, and waits for the actions without blocking a thread of the caller.
    public func advance(by duration: Duration) async {
        await onOwnThread { self.advance(by: duration) }
    }

    /// Simulates a sleep of the machine, and waits without blocking a thread of the caller.
    public func sleep(for duration: Duration) async {
        await onOwnThread { self.sleep(for: duration) }
    }

    private func nextTimer(upTo end: Duration) -> Timer? {
        state.withLock { state in
            let due = state.timers.filter { $0.value.deadline <= end }
            let next = due.min { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }
            state.move(to: next?.value.deadline ?? end)
            return next.flatMap { state.timers.removeValue(forKey: $0.key) }
        }
    }
}

extension ManualClock: MonitorClock {
    package func schedule(
        after delay: Duration,
        on queue: DispatchQueue,
        _ action: @escaping @Sendable () -> Void
    ) -> Cancellation {
        let once = OneShot(action)
        // An action that is due now does not wait for the clock.
        if delay <= .zero {
            queue.async { once.run() }
            return Cancellation { once.cancel() }
        }
        let id = state.withLock { state in
            state.count += 1
            state.timers[state.count] = Timer(deadline: state.monotonic + delay, queue: queue) { once.run() }
            return state.count
        }
        return Cancellation { [weak self] in
            once.cancel()
            // An action may own a cancellation, so it is released outside the lock.
            _ = self?.state.withLock { $0.timers.removeValue(forKey: id) }
        }
    }

    package func watchForSleep(on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) -> Cancellation? {
        sleepers.add(on: queue, action)
    }
}

/// Runs a blocking function on a new thread, and returns its result; nil if no thread can be created.
@discardableResult
func onOwnThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value? {
    let (values, continuation) = AsyncStream.makeStream(of: Value.self)
    do throws(SystemError) {
        try Thread.detach {
            continuation.yield(body())
            continuation.finish()
        }
    } catch {
        return nil
    }
    return await values.first { _ in true }
}
