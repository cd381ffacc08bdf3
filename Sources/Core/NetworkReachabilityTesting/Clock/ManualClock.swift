import Dispatch
import LinuxPrimitives
import NetworkReachability

/// Time that passes when a test says so.
///
/// Thread-safe. Call `advance(by:)` and `sleep(for:)` from the test, never from a queue that actions run on: they wait
/// until the actions have run.
public final class ManualClock: Sendable {
    private let state: Locked<State>

    /// A clock that stands at `start` since the machine's own start.
    public init(start: Duration = .seconds(1000)) {
        state = Locked(State(start: start))
    }

    /// Time since the start, without the time the machine slept.
    public var monotonic: Duration { state.withLock { $0.monotonic } }

    /// Time since the start, with the time the machine slept.
    public var boot: Duration { state.withLock { $0.boot } }

    /// How many actions wait for their time.
    public var scheduledCount: Int { state.withLock { $0.timers.count } }

    /// How long until the next action; nil when none waits.
    public var timeToNextAction: Duration? {
        state.withLock { state in state.timers.values.map(\.deadline).min().map { $0 - state.monotonic } }
    }

    /// Lets time pass, and runs what is due on the way, each at its own time, and waits for it.
    public func advance(by duration: Duration) {
        precondition(duration >= .zero, "time does not go back")
        let end = monotonic + duration
        while let timer = nextTimer(upTo: end) { run(timer) }
    }

    /// Lets the machine sleep: only the boot clock goes on, no action becomes due, and who watches for sleep is notified.
    public func sleep(for duration: Duration) {
        precondition(duration >= .zero, "time does not go back")
        let watchers = state.withLock { state in
            state.boot += duration
            return state.watchers.sorted { $0.key < $1.key }.map(\.value)
        }
        for watcher in watchers { run(watcher) }
    }

    func addTimer(after delay: Duration, _ queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) -> UInt64 {
        state.withLock { state in
            let id = state.makeID()
            state.timers[id] = Timer(deadline: state.monotonic + delay, queue: queue, action: action)
            return id
        }
    }

    func addWatcher(_ queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) -> UInt64 {
        state.withLock { state in
            let id = state.makeID()
            state.watchers[id] = Timer(deadline: .zero, queue: queue, action: action)
            return id
        }
    }

    func remove(_ id: UInt64) {
        // What is removed may own what removes: it is let go outside the lock.
        _ = state.withLock { state in (state.timers.removeValue(forKey: id), state.watchers.removeValue(forKey: id)) }
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
}

extension ManualClock {
    /// Lets time pass, and runs what is due on the way, each at its own time, and waits for it without blocking a thread
    /// of the caller's.
    public func advance(by duration: Duration) async {
        await onOwnThread { self.advance(by: duration) }
    }

    /// Lets the machine sleep: only the boot clock goes on, no action becomes due, and who watches for sleep is notified.
    /// Waits for it without blocking a thread of the caller's.
    public func sleep(for duration: Duration) async {
        await onOwnThread { self.sleep(for: duration) }
    }
}

extension ManualClock {
    /// An action and when it is due.
    struct Timer: Sendable {
        let deadline: Duration
        let queue: DispatchQueue
        let action: @Sendable () -> Void
    }
}
