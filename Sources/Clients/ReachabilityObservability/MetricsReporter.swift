public import CoreMetrics
import LinuxSupport
public import NetworkReachability

/// A reporter that publishes the statistics of a manager's monitor through swift-metrics, on request or at an interval.
///
/// Between reports it has no thread, timer or wake-up. It retains its manager. All managers of a network namespace
/// share one monitor and therefore have the same statistics, so create one reporter per namespace.
///
/// | Metric | Kind | Value |
/// |---|---|---|
/// | `network_reachability_messages_total` | counter | `MonitorStatistics/messages` |
/// | `network_reachability_irrelevant_messages_total` | counter | `MonitorStatistics/irrelevantMessages` |
/// | `network_reachability_foreign_messages_total` | counter | `MonitorStatistics/foreignMessages` |
/// | `network_reachability_overruns_total` | counter | `MonitorStatistics/overruns` |
/// | `network_reachability_evaluations_total` | counter | `MonitorStatistics/evaluations` |
/// | `network_reachability_evaluated_targets_total` | counter | `MonitorStatistics/evaluatedTargets` |
/// | `network_reachability_lookups_total` | counter | `MonitorStatistics/lookups` |
/// | `network_reachability_listener_calls_total` | counter | `MonitorStatistics/listenerCalls` |
/// | `network_reachability_listener_lag_seconds` | timer | each new value of `MonitorStatistics/lag`, with a relative error of at most 1/64 |
///
/// The names follow Prometheus and are valid in OpenTelemetry. A timer records nanoseconds, which the backend converts
/// to seconds. Each metric has the dimension `namespace`.
///
/// ```swift
/// let reporter = MetricsReporter(manager: manager)
/// await reporter.run(every: .seconds(15))
/// ```
///
/// Thread-safe: concurrent reports count nothing twice.
public final class MetricsReporter: Sendable {
    private let manager: NetworkReachabilityManager
    private let metrics: MonitorMetrics
    private let reported = Locked(MonitorStatistics())

    /// Creates a reporter and its metrics. The metrics are visible before the first report. The first report includes
    /// everything since the creation of the monitor.
    ///
    /// - Parameters:
    ///   - manager: The manager whose statistics are published.
    ///   - namespace: The value of the dimension `namespace`. If nil, the namespace that the manager watches: a path,
    ///     or `current`.
    ///   - factory: Creates the metrics.
    public init(
        manager: NetworkReachabilityManager,
        namespace: String? = nil,
        factory: any MetricsFactory = MetricsSystem.factory
    ) {
        self.manager = manager
        metrics = MonitorMetrics(namespace: namespace ?? manager.options.networkNamespace.name, factory: factory)
    }

    /// Publishes the changes since the last report. Callable from any thread. Does not block.
    public func report() {
        let (earlier, now) = reported.withLock { reported in
            let earlier = reported
            reported = manager.statistics
            return (earlier, reported)
        }
        metrics.add(now, since: earlier)
    }

    /// Publishes a report at an interval until the task is cancelled, and then a last one.
    ///
    /// - Parameters:
    ///   - interval: The time before each report, at least a millisecond. The system may extend it by a tenth to save a
    ///     wake-up.
    ///   - clock: The clock that measures the interval.
    public func run(every interval: Duration, clock: some Clock<Duration> = ContinuousClock()) async {
        let interval = max(interval, .milliseconds(1))
        while !Task.isCancelled {
            try? await clock.sleep(for: interval, tolerance: interval / 10)
            report()
        }
    }
}

/// The metrics of one monitor.
struct MonitorMetrics: Sendable {
    private typealias Number = KeyPath<MonitorStatistics, UInt64> & Sendable

    private static let prefix = "network_reachability_"
    private static let numbers: [(name: String, number: any Number)] = [
        ("messages", \.messages),
        ("irrelevant_messages", \.irrelevantMessages),
        ("foreign_messages", \.foreignMessages),
        ("overruns", \.overruns),
        ("evaluations", \.evaluations),
        ("evaluated_targets", \.evaluatedTargets),
        ("lookups", \.lookups),
        ("listener_calls", \.listenerCalls),
    ]

    private let counters: [(counter: Counter, number: any Number)]
    private let lag: Timer

    init(namespace: String, factory: any MetricsFactory) {
        let dimensions = [("namespace", namespace)]
        counters = Self.numbers.map { name, number in
            (Counter(label: Self.prefix + name + "_total", dimensions: dimensions, factory: factory), number)
        }
        lag = Timer(label: Self.prefix + "listener_lag_seconds", dimensions: dimensions, factory: factory)
    }

    /// Adds the difference between two readings.
    func add(_ now: MonitorStatistics, since earlier: MonitorStatistics) {
        for (counter, number) in counters {
            let difference = now[keyPath: number] - earlier[keyPath: number]
            if difference > 0 { counter.increment(by: Int64(clamping: difference)) }
        }
        for (value, count) in now.lag.values(since: earlier.lag) {
            for _ in 0..<count { lag.recordNanoseconds(value.nanoseconds) }
        }
    }
}
