import CoreMetrics
import Dispatch
import LinuxSupport
import ReachabilityRequests
import Testing

@testable import ReachabilityObservability

/// A metrics backend that adds up the values of each metric.
private final class SumFactory: MetricsFactory {
    final class Metric: CounterHandler, RecorderHandler, TimerHandler {
        let sum = Locked<Int64>(0)

        func increment(by amount: Int64) { sum.withLock { $0 += amount } }
        func record(_ value: Int64) { increment(by: value) }
        func record(_ value: Double) { increment(by: Int64(value)) }
        func recordNanoseconds(_ duration: Int64) { increment(by: duration) }
        func reset() {}
    }

    private let metrics = Locked<[String: Metric]>([:])

    /// The sum of each metric, by name and dimensions.
    var sums: [String: Int64] { metrics.withLock { $0.mapValues { metric in metric.sum.withLock { $0 } } } }

    private func make(_ label: String, _ dimensions: [(String, String)]) -> Metric {
        let name = ([label] + dimensions.map { "\($0)=\($1)" }).joined(separator: " ")
        return metrics.withLock { metrics in
            let metric = metrics[name] ?? Metric()
            metrics[name] = metric
            return metric
        }
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler { make(label, dimensions) }
    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        make(label, dimensions)
    }
    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { make(label, dimensions) }
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
}

struct MetricsEventMonitorTests {
    @Test func `every metric exists before the first request`() {
        let factory = SumFactory()
        _ = MetricsEventMonitor(factory: factory)
        #expect(factory.sums.count == 8 && factory.sums.values.allSatisfy { $0 == 0 })
    }

    @Test(arguments: [
        (AFError?.none, "accepted"), (.explicitlyCancelled, "cancelled"), (.invalidURL(url: "x"), "failed"),
        (.responseValidationFailed(reason: .unacceptableStatusCode(code: 404)), "refused"),
        (.responseSerializationFailed(reason: .inputDataNilOrZeroLength), "refused"),
        (.sessionTaskFailed(error: CancellationError()), "failed"),
    ])
    func `a finished request is counted by its outcome`(error: AFError?, outcome: String) async throws {
        let factory = SumFactory()
        let monitor = MetricsEventMonitor(factory: factory)
        var metrics = RequestMetrics()
        (metrics.duration, metrics.receivedBytes) = (.milliseconds(2), 5)
        monitor.count(metrics, error)
        monitor.didMissEvents(3)
        let sums = factory.sums.filter { $0.value != 0 }
        #expect(
            sums == [
                "reachability_requests_total outcome=\(outcome)": 1, "reachability_request_seconds": 2_000_000,
                "reachability_request_received_bytes_total": 5, "reachability_request_events_missed_total": 3,
            ]
        )
    }

    @Test func `requests of a session are counted when they end, and without names in labels`() async throws {
        let factory = SumFactory()
        let queue = DispatchQueue(label: "metrics")
        let session = Session(eventMonitors: [MetricsEventMonitor(factory: factory, queue: queue)])
        _ = await session.request("http://secret.example:0/").serializingData().response
        queue.sync {}
        #expect(factory.sums["reachability_requests_total outcome=failed"] == 1)
        #expect(factory.sums.keys.allSatisfy { !$0.contains("secret") })
    }
}
