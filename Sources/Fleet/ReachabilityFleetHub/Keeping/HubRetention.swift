import Dispatch
import LinuxSupport
package import ReachabilityService

/// Deletes what is kept for long enough: at the start, and each hour. Thread-safe.
///
/// Ages count the time for which the machine runs: a boot with a clock that is years ahead deletes nothing.
package final class HubRetention: Sendable {
    /// For so long incidents are kept where nothing is said.
    package static let usual = Duration.seconds(400 * 86_400)
    private static let pause = Duration.seconds(3600)
    /// So many are deleted at a time, so that messages do not wait.
    private static let slice = 100
    /// The longest time without an incident after which the clock is believed where no earlier reading is known.
    private static let longestRest = Duration.seconds(30 * 86_400)

    private let store: any HubStore
    private let clock: @Sendable () -> Duration
    private let queue = DispatchQueue(label: "ReachabilityFleetHub.retention", qos: .utility)
    private let keep: Locked<Duration>
    private let timer = Locked<Cancellation?>(nil)

    /// - Parameters:
    ///   - keep: How long after its end; nil for ``usual``.
    ///   - clock: The hub's, since 1970.
    package init(
        _ store: any HubStore,
        keep: Duration?,
        clock: @escaping @Sendable () -> Duration = { SystemClock.real }
    ) {
        (self.store, self.clock) = (store, clock)
        self.keep = Locked(keep ?? Self.usual)
    }

    package func begin() { queue.async { [weak self] in self?.pass() } }

    /// For a configuration that is read again: nothing can be wrong with it, and what is over for longer goes at once.
    @Sendable package func prepare(
        _ configuration: ServiceConfiguration
    ) throws(ConfigurationProblems) -> @Sendable () -> Void {
        return { [self] in
            keep.withLock { $0 = configuration.history.keep ?? Self.usual }
            begin()
        }
    }

    /// Waits until what is under way is done; nothing follows.
    package func stop() {
        queue.sync {}
        timer.withLock { $0.take() }?.cancel()
    }

    /// The time that ages are counted by.
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

    /// Where the disk cannot be written, the keeper says so.
    func pass() {
        if let now = try? now() {
            let moment = now - keep.withLock(\.self)
            while let count = try? store.deleteIncidents(endedBefore: moment, limit: Self.slice), count == Self.slice {}
        }
        let next = DispatchTimer.schedule(after: Self.pause, on: queue) { [weak self] in self?.pass() }
        timer.withLock { $0 = next }
    }
}
