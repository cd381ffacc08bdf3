import LinuxSupport

/// A listener that stores the values it is called with.
///
/// Thread-safe. Pass `record` as a listener.
public final class RecordingListener<Element: Sendable>: Sendable {
    private struct State: Sendable {
        var values: [Element] = []
        var waiting: [(count: Int, latch: Latch)] = []
    }

    private let state = Locked(State())

    /// Creates a listener without values.
    public init() {}

    /// Adds a value.
    public func record(_ value: Element) {
        let latches = state.withLock { state in
            state.values.append(value)
            let count = state.values.count
            let reached = state.waiting.filter { $0.count <= count }.map(\.latch)
            state.waiting.removeAll { $0.count <= count }
            return reached
        }
        for latch in latches { latch.open() }
    }

    /// All values, oldest first.
    public var values: [Element] { state.withLock { $0.values } }

    /// The number of values.
    public var count: Int { state.withLock { $0.values.count } }

    /// The newest value; nil if no value was recorded.
    public var last: Element? { state.withLock { $0.values.last } }

    /// Removes all values.
    public func removeAll() {
        state.withLock { $0.values.removeAll() }
    }

    /// Blocks the calling thread until `count` values are recorded, or until `timeout` has passed on the real clock.
    /// Returns true if `count` values are recorded.
    @discardableResult
    public func waitForCount(_ count: Int, timeout: Duration = .seconds(60)) -> Bool {
        let latch = Latch()
        let isReached = state.withLock { state in
            if state.values.count >= count { return true }
            state.waiting.append((count, latch))
            return false
        }
        if isReached || latch.wait(atMost: timeout) { return true }
        state.withLock { $0.waiting.removeAll { $0.latch === latch } }
        return self.count >= count
    }

    /// Waits in the same way, without blocking a thread of the caller. A machine with few processors has few
    /// cooperative threads, and the tested code may need them.
    @discardableResult
    public func waitForCount(_ count: Int, timeout: Duration = .seconds(60)) async -> Bool {
        await onOwnThread { self.waitForCount(count, timeout: timeout) } ?? false
    }
}
