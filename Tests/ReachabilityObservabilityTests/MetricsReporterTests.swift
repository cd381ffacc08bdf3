import CoreMetrics
import Dispatch
import KernelLab
import NetworkReachabilityTesting
import ReachabilityObservability
import Testing

@testable import NetworkReachability

/// The published metrics, and the times of publication.
@Suite struct MetricsReporterTests {
    private let kernel = FakeKernel.connected()
    private let factory = RecordingFactory()
    private let queue = DispatchQueue(label: "MetricsReporterTests")
    private let heard = RecordingListener<NetworkReachabilityStatus>()
    private let manager: NetworkReachabilityManager
    private let reporter: MetricsReporter

    private static let names = [
        "messages", "irrelevant_messages", "foreign_messages", "overruns", "evaluations", "evaluated_targets",
        "lookups", "listener_calls",
    ]

    init() throws {
        manager = try NetworkReachabilityManager(kernel: kernel)
        reporter = MetricsReporter(manager: manager, factory: factory)
    }

    private func listen() async {
        manager.startListening(onQueue: queue, onUpdatePerforming: heard.record)
        #expect(await heard.waitForCount(1))
    }

    /// Removes the carrier. The listener is called `lag` later.
    private func unplug(lag: Duration) async {
        queue.suspend()
        let told = RecordingListener<NetworkPath>()
        let token = manager.addPathListener(for: .flags, onQueue: nil, told.record)
        #expect(await told.waitForCount(1))
        kernel.setCarrier("eth0", false)
        #expect(await told.waitForCount(2))
        await kernel.clock.advance(by: lag)
        queue.resume()
        #expect(await heard.waitForCount(2))
        queue.sync {}
        token.cancel()
    }

    @Test func `every metric exists from the start with its namespace`() throws {
        let names = Self.names.map { "\($0)_total" } + ["listener_lag_seconds"]
        let keys = names.map { "network_reachability_\($0){namespace=current}" }
        #expect(Set(factory.values.keys) == Set(keys))
        #expect(factory.values.values.allSatisfy { $0.isEmpty })
        var options = NetworkReachabilityOptions()
        options.networkNamespace = .named("blue")
        let other = RecordingFactory()
        _ = MetricsReporter(manager: try NetworkReachabilityManager(kernel: kernel, options: options), factory: other)
        #expect(other.values.keys.allSatisfy { $0.hasSuffix("{namespace=/run/netns/blue}") })
        let named = RecordingFactory()
        _ = MetricsReporter(manager: manager, namespace: "green", factory: named)
        #expect(named.values.keys.allSatisfy { $0.hasSuffix("{namespace=green}") })
    }

    @Test func `each report publishes the statistics since the previous one`() async throws {
        await listen()
        await unplug(lag: .milliseconds(40))
        kernel.sendForeignMessage()
        kernel.overrun {}
        let statistics = settledStatistics
        reporter.report()
        let expected = [
            statistics.messages, statistics.irrelevantMessages, statistics.foreignMessages, statistics.overruns,
            statistics.evaluations, statistics.evaluatedTargets, statistics.lookups, statistics.listenerCalls,
        ]
        #expect(Self.names.map { factory.total($0) } == expected.map { Int64($0) })
        #expect(statistics.foreignMessages == 1 && statistics.overruns == 1 && statistics.messages > 0)
        let lags = try #require(factory.values["network_reachability_listener_lag_seconds{namespace=current}"])
        // The path listener was called at once, the other one 40 ms later.
        #expect(lags.count == 2)
        #expect(try #require(lags.first) < 1000)
        let last = Double(try #require(lags.last))
        #expect(abs(last / 40e6 - 1) <= 1.0 / 64)
        let before = factory.values
        reporter.report()
        #expect(factory.values == before)
        kernel.sendForeignMessage()
        #expect(settledStatistics.foreignMessages == 2)
        reporter.report()
        #expect(factory.values["network_reachability_foreign_messages_total{namespace=current}"] == [1, 1])
    }

    @Test func `concurrent reports count nothing twice`() async throws {
        await listen()
        DispatchQueue.concurrentPerform(iterations: 16) { _ in
            _ = manager.status
            reporter.report()
        }
        #expect(factory.total("lookups") == Int64(manager.statistics.lookups))
    }

    @Test func `metrics are reported at an interval and once more at the end`() async throws {
        let clock = SteppedClock()
        let task = Task { [reporter] in await reporter.run(every: .seconds(15), clock: clock) }
        #expect(await clock.sleeps.waitForCount(1, timeout: .seconds(60)))
        _ = manager.status
        #expect(factory.total("lookups") == 0)
        clock.wake()
        #expect(await clock.sleeps.waitForCount(2, timeout: .seconds(60)))
        let lookups = manager.statistics.lookups
        #expect(lookups > 0)
        #expect(factory.total("lookups") == Int64(lookups))
        _ = manager.status
        task.cancel()
        await task.value
        #expect(factory.total("lookups") == Int64(manager.statistics.lookups))
        #expect(manager.statistics.lookups > lookups)
        #expect(clock.sleeps.values == [.seconds(15), .seconds(15)])
    }

    /// The statistics after the monitor has processed all messages.
    private var settledStatistics: MonitorStatistics {
        manager.record.monitor.queue.sync {}
        return manager.statistics
    }
}
