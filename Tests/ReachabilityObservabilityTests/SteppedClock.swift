import LinuxSupport
import NetworkReachabilityTesting
import TestSupport

/// A clock whose sleeps are ended by the test, one at a time.
final class SteppedClock: Clock {
    typealias Instant = VirtualWorld.Instant

    /// The durations of the sleeps that have begun.
    let sleeps = RecordingListener<Swift.Duration>()
    private let time = Locked(Instant())
    private let steps: AsyncStream<Void>
    private let step: AsyncStream<Void>.Continuation

    init() {
        (steps, step) = AsyncStream.makeStream()
    }

    var now: Instant { time.withLock { $0 } }
    let minimumResolution = Swift.Duration.zero

    /// Ends the current sleep or the next one.
    func wake() {
        step.yield()
    }

    func sleep(until deadline: Instant, tolerance: Swift.Duration?) async throws {
        sleeps.record(now.duration(to: deadline))
        var steps = steps.makeAsyncIterator()
        _ = await steps.next()
        try Task.checkCancellation()
        time.withLock { $0 = deadline }
    }
}
