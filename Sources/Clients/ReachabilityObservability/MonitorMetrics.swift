import CoreMetrics
import LinuxSupport
import NetworkReachability

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
