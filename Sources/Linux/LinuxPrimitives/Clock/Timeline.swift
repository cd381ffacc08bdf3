/// A clock of any type, as the time since it was looked at first.
package struct Timeline: Sendable {
    private let elapsed: @Sendable () -> Duration
    private let wait: @Sendable (Duration) async throws -> Void

    package init(_ clock: some Clock<Duration>) {
        let origin = clock.now
        elapsed = { origin.duration(to: clock.now) }
        wait = { try await clock.sleep(until: origin.advanced(by: $0), tolerance: nil) }
    }

    /// The time since the timeline was made.
    package var now: Duration { elapsed() }

    /// Sleeps until a time of this timeline.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    package func sleep(until time: Duration) async throws {
        try await wait(time)
    }
}
