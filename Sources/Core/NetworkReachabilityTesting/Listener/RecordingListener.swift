import LinuxPrimitives
import Netlink

/// Writes down what it is called with, for tests to read.
///
/// Thread-safe. Pass `record` wherever a listener is wanted.
public final class RecordingListener<Element: Sendable>: Sendable {
    private struct State: Sendable {
        var values: [Element] = []
        var waiting: [(count: Int, latch: Latch)] = []
    }

    private let state = Locked(State())

    /// A listener that has heard nothing yet.
    public init() {}

    /// Writes one value down.
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

    /// Everything heard so far, oldest first.
    public var values: [Element] { state.withLock { $0.values } }

    /// How much was heard so far.
    public var count: Int { state.withLock { $0.values.count } }

    /// The newest value; nil when nothing was heard.
    public var last: Element? { state.withLock { $0.values.last } }

    /// Forgets everything heard so far.
    public func removeAll() {
        state.withLock { $0.values.removeAll() }
    }

    /// Blocks the calling thread until at least `count` values were heard or `timeout` has passed on the real clock, and
    /// says whether they were.
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
}

extension RecordingListener {
    /// Waits until at least `count` values were heard or `timeout` has passed on the real clock, and says whether they
    /// were. No thread of the caller's is blocked: the cooperative threads of a small machine are few, and what is tested
    /// may need them.
    @discardableResult
    public func waitForCount(_ count: Int, timeout: Duration = .seconds(60)) async -> Bool {
        await onOwnThread { self.waitForCount(count, timeout: timeout) } ?? false
    }
}

/// Runs what blocks on a thread of its own; nil when there are no threads left.
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
