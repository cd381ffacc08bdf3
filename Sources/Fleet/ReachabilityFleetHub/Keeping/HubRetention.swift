import Dispatch
import LinuxSupport
package import ReachabilityService

/// Deletes old incidents, at the start and each hour. Thread-safe.
///
/// Ages count the time for which the machine runs, so that a boot with a clock that is years ahead deletes nothing.
package final class HubRetention: Sendable {
    /// The default time for which ended incidents are kept.
    package static let usual = Duration.seconds(400 * 86_400)
    private static let pause = Duration.seconds(3600)
    /// The number of incidents that one transaction deletes, so that messages do not wait.
    private static let slice = 100
    /// The maximum time without an incident after which the clock is trusted without an earlier reading.
    private static let longestRest = Duration.seconds(30 * 86_400)

    private let store: HubStore
    private let clock: @Sendable () -> Duration
    private let queue = DispatchQueue(label: "ReachabilityFleetHub.retention", qos: .utility)
    private let keep: Locked<Duration>
    private let timer = Locked<Cancellation?>(nil)

    /// - Parameters:
    ///   - keep: The time after the end; nil for ``usual``.
    ///   - clock: The hub's, since 1970.
    package init(
        _ store: HubStore,
        keep: Duration?,
        clock: @escaping @Sendable () -> Duration = { SystemClock.real }
    ) {
        (self.store, self.clock) = (store, clock)
        self.keep = Locked(keep ?? Self.usual)
    }

    package func begin() { queue.async { [weak self] in self?.pass() } }

    /// Applies a configuration, which cannot fail here.
    @Sendable package func prepare(
        _ configuration: ServiceConfiguration
    ) throws(ConfigurationProblems) -> @Sendable () -> Void {
        return { [self] in
            keep.withLock { $0 = configuration.history.keep ?? Self.usual }
            begin()
        }
    }

    /// Ends, and waits for a deletion that is under way.
    package func stop() {
        queue.sync {}
        timer.withLock { $0.take() }?.cancel()
    }

    /// The current time of ages.
    private func now() throws(HistoryFault) -> Duration {
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

    /// The writer reports a disk that cannot be written.
    func pass() {
        if let now = try? now() {
            let moment = now - keep.withLock(\.self)
            while let count = try? store.deleteIncidents(endedBefore: moment, limit: Self.slice), count == Self.slice {}
        }
        let next = DispatchTimer.schedule(after: Self.pause, on: queue) { [weak self] in self?.pass() }
        timer.withLock { $0 = next }
    }
}
