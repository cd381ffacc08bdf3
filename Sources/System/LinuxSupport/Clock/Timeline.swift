/// A clock of any type, as the time since it was looked at first.
package struct Timeline: Sendable {
    private let elapsed: @Sendable () -> Duration
    private let wait: @Sendable (Duration) async throws -> Void
    private let alarm: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void

    package init(_ clock: some Clock<Duration>) {
        let origin = clock.now
        elapsed = { origin.duration(to: clock.now) }
        wait = { try await clock.sleep(until: origin.advanced(by: $0), tolerance: nil) }
        alarm = { time, ring in
            if let alarms = clock as? any AlarmClock {
                return alarms.ring(after: time - origin.duration(to: clock.now), ring)
            }
            Task {
                try? await clock.sleep(until: origin.advanced(by: time), tolerance: nil)
                ring()
            }
        }
    }

    /// The time since the timeline was made.
    package var now: Duration { elapsed() }

    /// Sleeps until a time of this timeline.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    package func sleep(until time: Duration) async throws {
        try await wait(time)
    }

    /// Calls `ring` once, at a time of this timeline or soon after, from a thread of no meaning. It cannot be taken back.
    package func setAlarm(at time: Duration, _ ring: @escaping @Sendable () -> Void) {
        alarm(time, ring)
    }
}

/// A clock that needs no task to tell that a time has come.
package protocol AlarmClock: Clock<Duration> {
    /// Calls `ring` once, after this time or soon after it; at once where it is not above zero.
    func ring(after delay: Duration, _ ring: @escaping @Sendable () -> Void)
}
