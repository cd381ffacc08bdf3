import CoreMetrics
import LinuxSupport

/// A metrics backend that records the values of each metric.
final class RecordingFactory: MetricsFactory {
    /// A metric by its name and its dimensions, as Prometheus writes them.
    typealias Key = String

    final class Metric: CounterHandler, FloatingPointCounterHandler, MeterHandler, RecorderHandler, TimerHandler {
        let values: Locked<[Int64]> = Locked([])

        private func append(_ value: Int64) {
            values.withLock { $0.append(value) }
        }

        func increment(by amount: Int64) { append(amount) }
        func increment(by amount: Double) { append(Int64(amount)) }
        func decrement(by amount: Double) { append(Int64(-amount)) }
        func set(_ value: Int64) { append(value) }
        func set(_ value: Double) { append(Int64(value)) }
        func record(_ value: Int64) { append(value) }
        func record(_ value: Double) { append(Int64(value)) }
        func recordNanoseconds(_ duration: Int64) { append(duration) }
        func reset() { values.withLock { $0 = [] } }
    }

    private let metrics: Locked<[Key: Metric]> = Locked([:])

    /// The values of each metric so far.
    var values: [Key: [Int64]] {
        metrics.withLock { $0.mapValues { metric in metric.values.withLock { $0 } } }
    }

    /// Returns the value of a counter in the namespace `current`.
    func total(_ name: String) -> Int64? {
        values["network_reachability_\(name)_total{namespace=current}"]?.reduce(0, +)
    }

    private func make(_ label: String, _ dimensions: [(String, String)]) -> Metric {
        let key = "\(label){\(dimensions.map { "\($0)=\($1)" }.joined(separator: ","))}"
        return metrics.withLock { metrics in
            let metric = metrics[key] ?? Metric()
            metrics[key] = metric
            return metric
        }
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler { make(label, dimensions) }
    func makeFloatingPointCounter(label: String, dimensions: [(String, String)]) -> any FloatingPointCounterHandler {
        make(label, dimensions)
    }
    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler { make(label, dimensions) }
    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        make(label, dimensions)
    }
    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { make(label, dimensions) }
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    func destroyMeter(_ handler: any MeterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
}
