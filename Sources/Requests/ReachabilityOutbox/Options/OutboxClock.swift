import LinuxPrimitives

/// The seam to time: tests pass their own.
public protocol OutboxClock: Sendable {
    /// Time since 1970-01-01T00:00:00Z: what expiry is counted in, for it must hold across restarts of the machine.
    var now: Duration { get }

    /// Waits, at least so long, or until the task is cancelled.
    func sleep(for duration: Duration) async
}

/// The system's clocks: CLOCK_REALTIME for what is stored, CLOCK_MONOTONIC for waiting.
///
/// C counterpart: `clock_gettime(2)`.
public struct SystemOutboxClock: OutboxClock {
    /// The system's clocks.
    public init() {}

    /// CLOCK_REALTIME.
    public var now: Duration { SystemClock.real }

    /// Waits by CLOCK_MONOTONIC, up to a tenth longer where that saves a wake-up.
    public func sleep(for duration: Duration) async {
        try? await Task.sleep(for: duration, tolerance: duration / 10, clock: .suspending)
    }
}
