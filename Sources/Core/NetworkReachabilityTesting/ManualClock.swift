package import Dispatch
package import LinuxSupport
import NetworkReachability

/// A clock that a test advances.
///
/// Thread-safe. Call `advance(by:)` and `sleep(for:)` from the test, never from a queue that actions run on: they wait until the
/// actions have run.
public final class ManualClock: Sendable {
    private struct Timer {
        let deadline: Duration
        let queue: DispatchQueue
        let action: @Sendable () -> Void
    }

    private struct State {
        var monotonic: Duration
        var boot: Duration
        var timers: [UInt64: Timer] = [:]
        var watchers: [UInt64: Timer] = [:]
        var count: UInt64 = 0

        /// Time does not go back.
        mutating func move(to time: Duration) {
            boot += max(.zero, time - monotonic)
            monotonic = max(monotonic, time)
        }
    }

    private let state: Locked<State>

    /// - Parameter start: The time since the machine started.
    public init(start: Duration = .seconds(1000)) {
        state = Locked(State(monotonic: start, boot: start))
    }

    /// The time since the start, without the time that the machine slept.
    public var monotonic: Duration { state.withLock { $0.monotonic } }

    /// The time since the start, with the time that the machine slept.
    public var boot: Duration { state.withLock { $0.boot } }

    /// The number of actions that wait.
    public var scheduledCount: Int { state.withLock { $0.timers.count } }

    /// The time until the next action; nil if none waits.
    public var timeToNextAction: Duration? {
        state.withLock { state in state.timers.values.map(\.deadline).min().map { $0 - state.monotonic } }
    }

    /// Advances the clock, runs the actions that become due, each at its time, and waits for them.
    public func advance(by duration: Duration) {
        precondition(duration >= .zero, "time does not go back")
        let end = monotonic + duration
        while let timer = nextTimer(upTo: end) { run(timer) }
    }

    /// Lets the machine sleep: only the boot clock advances, and no action becomes due.
    public func sleep(for duration: Duration) {
        precondition(duration >= .zero, "time does not go back")
        let watchers = state.withLock { state in
            state.boot += duration
            return state.watchers.sorted { $0.key < $1.key }.map(\.value)
        }
        for watcher in watchers { run(watcher) }
    }

    /// Advances the clock, and waits for the actions without blocking a thread of the caller.
    public func advance(by duration: Duration) async {
        await onOwnThread { self.advance(by: duration) }
    }

    /// Lets the machine sleep, and waits without blocking a thread of the caller.
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

    private func run(_ timer: Timer) {
        dispatchPrecondition(condition: .notOnQueue(timer.queue))
        let group = DispatchGroup()
        timer.queue.async(group: group) { timer.action() }
        group.wait()
    }

    /// - Parameter delay: nil for an action that waits for sleep.
    private func add(
        after delay: Duration?,
        _ queue: DispatchQueue,
        _ action: @escaping @Sendable () -> Void
    ) -> UInt64 {
        state.withLock { state in
            state.count += 1
            let timer = Timer(deadline: state.monotonic + (delay ?? .zero), queue: queue, action: action)
            if delay == nil { state.watchers[state.count] = timer } else { state.timers[state.count] = timer }
            return state.count
        }
    }

    private func remove(_ id: UInt64) {
        // An action may own a cancellation: it is released outside the lock.
        _ = state.withLock { state in (state.timers.removeValue(forKey: id), state.watchers.removeValue(forKey: id)) }
    }
}

extension ManualClock: MonitorClock {
    package func schedule(
        after delay: Duration,
        on queue: DispatchQueue,
        _ action: @escaping @Sendable () -> Void
    ) -> Cancellation {
        let once = OneShot(action)
        let id = add(after: delay, queue) { once.run() }
        // An action that is due now does not wait for the clock.
        if delay <= .zero {
            queue.async { once.run() }
            remove(id)
        }
        return Cancellation { [weak self] in
            once.cancel()
            self?.remove(id)
        }
    }

    package func watchForSleep(on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) -> Cancellation? {
        let id = add(after: nil, queue, action)
        return Cancellation { [weak self] in self?.remove(id) }
    }
}

/// Runs a function that blocks on a thread of its own; nil if there are no threads left.
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
