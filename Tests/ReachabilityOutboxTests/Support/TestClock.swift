import LinuxPrimitives
import ReachabilityOutbox

/// Time that passes when a test says so.
final class TestClock: OutboxClock {
    private struct State {
        var now: Duration = .seconds(1_000_000)
        var sleepers: [UInt64: (end: Duration, continuation: CheckedContinuation<Void, Never>)] = [:]
        var next: UInt64 = 0
    }

    private let state = Locked(State())

    var now: Duration { state.withLock { $0.now } }

    /// How often somebody has begun to sleep.
    var sleeps: UInt64 { state.withLock { $0.next } }

    func sleep(for duration: Duration) async {
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if Task.isCancelled || duration <= .zero { return true }
                    state.sleepers[id] = (state.now + duration, continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: id) }?.continuation.resume()
        }
    }

    func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now += duration
            let due = state.sleepers.filter { [now = state.now] in $0.value.end <= now }
            for id in due.keys { state.sleepers.removeValue(forKey: id) }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume() }
    }

    /// Waits until somebody sleeps for that long from now.
    func untilSleeping(for duration: Duration) async {
        while !state.withLock({ state in state.sleepers.values.contains { $0.end == state.now + duration } }) {
            try? await Task.sleep(for: .milliseconds(1))
        }
    }
}
