import Dispatch

/// A clock like `ContinuousClock` whose sleepers are woken by a queue of its own.
///
/// `Task.sleep` and `ContinuousClock` wake by the global queues of Dispatch, whatever a task prefers, and from the first use of these on
/// the process wakes every second (``TaskQueue``). Sleeps are up to a hundredth longer than asked for.
package struct QuietClock: AlarmClock {
    package typealias Instant = ContinuousClock.Instant

    private static let queue = DispatchQueue(label: "LinuxSupport.QuietClock")

    package init() {}

    package var now: Instant { .now }
    package var minimumResolution: Duration { ContinuousClock().minimumResolution }

    /// - Throws: `CancellationError` when the task is cancelled.
    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let (end, alarm) = AsyncStream.makeStream(of: Void.self)
        let timer = DispatchTimer.schedule(after: max(.zero, deadline - now), on: Self.queue) { alarm.finish() }
        for await _ in end {}
        timer.cancel()
        try Task.checkCancellation()
    }

    package func ring(after delay: Duration, _ ring: @escaping @Sendable () -> Void) {
        Self.queue.asyncAfter(deadline: .now() + .nanoseconds(Int(clamping: delay.nanoseconds)), execute: ring)
    }
}
