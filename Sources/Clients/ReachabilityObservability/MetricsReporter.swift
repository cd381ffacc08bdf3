public import CoreMetrics
import LinuxSupport
public import NetworkReachability

/// Publishes through swift-metrics what a manager's monitor has done, on request or at an interval.
///
/// Between reports it does nothing: no thread, no timer, no wake-up. It holds its manager. All managers of a network namespace
/// share one monitor and so have the same numbers: make one reporter for each namespace.
///
/// | Metric | Kind | Published |
/// |---|---|---|
/// | `network_reachability_messages_total` | counter | `MonitorStatistics/messages` |
/// | `network_reachability_irrelevant_messages_total` | counter | `MonitorStatistics/irrelevantMessages` |
/// | `network_reachability_foreign_messages_total` | counter | `MonitorStatistics/foreignMessages` |
/// | `network_reachability_overruns_total` | counter | `MonitorStatistics/overruns` |
/// | `network_reachability_evaluations_total` | counter | `MonitorStatistics/evaluations` |
/// | `network_reachability_evaluated_targets_total` | counter | `MonitorStatistics/evaluatedTargets` |
/// | `network_reachability_lookups_total` | counter | `MonitorStatistics/lookups` |
/// | `network_reachability_listener_calls_total` | counter | `MonitorStatistics/listenerCalls` |
/// | `network_reachability_listener_lag_seconds` | timer | each new value of `MonitorStatistics/lag`, to within a 64th |
///
/// The names follow Prometheus and are valid in OpenTelemetry; it is the back end that turns a timer's nanoseconds into seconds.
/// Each has the dimension `namespace`.
///
/// ```swift
/// let reporter = MetricsReporter(manager: manager)
/// await reporter.run(every: .seconds(15))
/// ```
///
/// Thread-safe: reports made at the same time count nothing twice.
public final class MetricsReporter: Sendable {
    private let manager: NetworkReachabilityManager
    private let metrics: MonitorMetrics
    private let reported = Locked(MonitorStatistics())

    /// A reporter that has published nothing yet: its first report is of all that was counted since the monitor was made. The
    /// metrics are made at once, so that they can be seen before the first report.
    ///
    /// - Parameters:
    ///   - manager: Whose statistics to publish.
    ///   - namespace: The value of the dimension `namespace`; nil for the namespace the manager was told to watch: a path, or
    ///     `current`.
    ///   - factory: What makes the metrics.
    public init(
        manager: NetworkReachabilityManager,
        namespace: String? = nil,
        factory: any MetricsFactory = MetricsSystem.factory
    ) {
        self.manager = manager
        metrics = MonitorMetrics(namespace: namespace ?? manager.options.networkNamespace.name, factory: factory)
    }

    /// Publishes what was counted since the last report. May be called from any thread; never waits.
    public func report() {
        let (earlier, now) = reported.withLock { reported in
            let earlier = reported
            reported = manager.statistics
            return (earlier, reported)
        }
        metrics.add(now, since: earlier)
    }

    /// Reports at an interval until its task is cancelled, and then once more.
    ///
    /// - Parameters:
    ///   - interval: How long to wait before each report, up to a tenth longer where that saves a wake-up; less than a
    ///     millisecond counts as one.
    ///   - clock: What measures the interval.
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

    /// Adds what was counted between two moments.
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
