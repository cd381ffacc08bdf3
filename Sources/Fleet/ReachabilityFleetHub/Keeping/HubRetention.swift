import Dispatch
import LinuxSupport
package import ReachabilityService

/// The deletion of old incidents, at the start and every hour. Thread-safe.
///
/// The age of an incident counts only time during which this machine runs. A boot with a clock that is years ahead
/// therefore deletes nothing.
package final class HubRetention: Sendable {
    /// The default time for which ended incidents are kept: 400 days.
    package static let usual = Duration.seconds(400 * 86_400)
    private static let pause = Duration.seconds(3600)
    /// The number of incidents that one transaction deletes. It is small, so that messages are not delayed.
    private static let slice = 100
    /// The maximum time since the latest incident for which the clock is trusted without an earlier reading.
    private static let longestRest = Duration.seconds(30 * 86_400)

    private let store: HubStore
    private let clock: @Sendable () -> Duration
    private let queue = DispatchQueue(label: "ReachabilityFleetHub.retention", qos: .utility)
    private let keep: Locked<Duration>
    private let timer = Locked<Cancellation?>(nil)

    /// Creates the deletion of old incidents. ``begin()`` starts it.
    ///
    /// - Parameters:
    ///   - keep: The time for which incidents are kept after their end; nil for ``usual``.
    ///   - clock: The hub's clock, since 1970.
    package init(
        _ store: HubStore,
        keep: Duration?,
        clock: @escaping @Sendable () -> Duration = { SystemClock.real }
    ) {
        (self.store, self.clock) = (store, clock)
        self.keep = Locked(keep ?? Self.usual)
    }

    /// Deletes old incidents now, and then every hour.
    package func begin() { queue.async { [weak self] in self?.pass() } }

    /// Checks a new configuration, and returns a function that applies it. It never throws.
    @Sendable package func prepare(
        _ configuration: ServiceConfiguration
    ) throws(ConfigurationProblems) -> @Sendable () -> Void {
        return { [self] in
            keep.withLock { $0 = configuration.history.keep ?? Self.usual }
            begin()
        }
    }

    /// Stops, and waits for a deletion in progress.
    package func stop() {
        queue.sync {}
        timer.withLock { $0.take() }?.cancel()
    }

    /// Returns the current time of the clock of ages, and saves its reading.
    private func now() throws(HistoryError) -> Duration {
        let reading = ClockReading(bootTime: SystemClock.boot, realTime: clock())
        let time: Duration
        if let last = try store.age() {
            time = last.time + reading.passed(since: last.reading)
        } else if let latest = try store.incidents(IncidentQuery(limit: 1)).first?.start,
            reading.realTime - latest > Self.longestRest
        {
            time = latest
        } else {
            time = reading.realTime
        }
        try store.save(HubAge(reading: reading, time: time))
        return time
    }

    /// Deletes old incidents, and schedules the next deletion. Errors are ignored, because the writer reports a disk
    /// that cannot be written.
    func pass() {
        if let now = try? now() {
            let moment = now - keep.withLock(\.self)
            while let count = try? store.deleteIncidents(endedBefore: moment, limit: Self.slice), count == Self.slice {}
        }
        let next = DispatchTimer.schedule(after: Self.pause, on: queue) { [weak self] in self?.pass() }
        timer.withLock { $0 = next }
    }
}
