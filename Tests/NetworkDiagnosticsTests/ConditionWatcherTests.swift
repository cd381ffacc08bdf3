import KernelLab
import NetworkReachabilityTesting
import Testing

@testable import NetworkDiagnostics
@testable import NetworkReachability

/// Waiting for conditions in a simulated network.
@Suite struct ConditionWatcherTests {
    private let kernel = FakeKernel()
    private let resolver = FakeResolver()
    private let inspector: NetworkInspector
    private let seen = RecordingListener<[NetworkCondition.State]>()
    private let done = RecordingListener<[NetworkCondition.State]>()

    init() {
        inspector = NetworkInspector(kernel: kernel, resolver: resolver)
    }

    private func watch(
        _ conditions: [NetworkCondition],
        needsAll: Bool = true,
        stability: Duration = .zero
    ) throws -> ConditionWatcher {
        let watcher = try ConditionWatcher(
            conditions,
            inspector: inspector,
            needsAll: needsAll,
            stability: stability,
            changed: seen.record,
            done: done.record
        )
        watcher.start()
        return watcher
    }

    private func prefix(_ text: String) throws -> IPPrefix { try #require(IPPrefix(text)) }

    /// Waits for the pending work on the monitor's queue.
    private func settle() {
        inspector.monitor.queue.sync {}
    }

    @Test func `all conditions must hold at the same time`() async throws {
        let route = NetworkCondition.route(try prefix("10.0.0.0/8"))
        let watcher = try watch([.target(nil, .reachable), .interface("eth0"), route])
        settle()
        #expect(watcher.evaluateAll().states.map(\.reason) == [.noInterface, .noInterface, .noRoute])
        kernel.addLink("eth0")
        settle()
        #expect(watcher.evaluateAll().states[1].reason == .noSourceAddress)
        kernel.addAddress("192.0.2.7/24", to: "eth0")
        settle()
        #expect(watcher.evaluateAll().states.map(\.holds) == [false, true, false])
        kernel.addRoute("10.0.0.0/8", via: "192.0.2.1")
        settle()
        #expect(watcher.evaluateAll().states.map(\.holds) == [false, true, true])
        #expect(done.values.isEmpty)
        kernel.addRoute("default", via: "192.0.2.1")
        #expect(await done.waitForCount(1))
        #expect(done.values[0].allSatisfy { $0.holds && $0.reason == nil })
        #expect(!watcher.cancel())
    }

    @Test func `one condition can be sufficient`() async throws {
        let watcher = try watch([.target("203.0.113.1", .reachable), .interface("eth0")], needsAll: false)
        kernel.addLink("eth0")
        kernel.addAddress("192.0.2.7/24", to: "eth0")
        #expect(await done.waitForCount(1))
        #expect(done.values[0].map(\.holds) == [false, true])
        withExtendedLifetime(watcher) {}
    }

    @Test func `an interruption restarts the wait`() async throws {
        kernel.addLink("eth0")
        kernel.addAddress("192.0.2.7/24", to: "eth0")
        let watcher = try watch([.interface("eth0")], stability: .seconds(2))
        settle()
        await kernel.clock.advance(by: .milliseconds(1900))
        kernel.setCarrier("eth0", false)
        settle()
        kernel.setCarrier("eth0", true)
        settle()
        await kernel.clock.advance(by: .milliseconds(1900))
        settle()
        #expect(done.values.isEmpty)
        await kernel.clock.advance(by: .milliseconds(100))
        #expect(await done.waitForCount(1))
        withExtendedLifetime(watcher) {}
    }

    @Test func `a change whose event is late does not count as stable`() async throws {
        kernel.addLink("eth0")
        kernel.addAddress("192.0.2.7/24", to: "eth0")
        let watcher = try watch([.interface("eth0")], stability: .seconds(2))
        settle()
        await kernel.clock.advance(by: .seconds(1))
        kernel.setCarrier("eth0", false, notifiedAfter: .seconds(10))
        await kernel.clock.advance(by: .seconds(2))
        settle()
        #expect(done.values.isEmpty)
        #expect(seen.values.last?.first?.reason == .noCarrier)
        withExtendedLifetime(watcher) {}
    }

    @Test func `an interface needs an address that is valid beyond its link`() throws {
        kernel.addLink("eth0")
        let watcher = try watch([.interface("eth0")])
        func reason() -> NetworkPath.UnsatisfiedReason? { watcher.evaluateAll().states[0].reason }
        #expect(reason() == .noSourceAddress)
        kernel.addAddress("169.254.3.4/16", to: "eth0", linkScope: true)
        kernel.addAddress("2001:db8::7/64", to: "eth0", tentative: true)
        settle()
        #expect(reason() == .noSourceAddress)
        kernel.finishDetection(of: "2001:db8::7", on: "eth0")
        #expect(reason() == nil)
        kernel.setDeprecated("2001:db8::7", on: "eth0")
        #expect(reason() == nil)
        kernel.setCarrier("eth0", false)
        #expect(reason() == .noCarrier)
        kernel.setUp("eth0", false)
        #expect(reason() == .linkDown)
    }

    @Test func `a single route must cover the prefix`() throws {
        kernel.addLink("eth0")
        kernel.addAddress("192.0.2.7/24", to: "eth0")
        kernel.addRoute("10.0.0.0/9", via: "192.0.2.1")
        kernel.addRoute("10.128.0.0/9", via: "192.0.2.1")
        func reason(_ text: String) throws -> NetworkPath.UnsatisfiedReason? {
            inspector.obstacle(ofRouteTo: try prefix(text))
        }
        #expect(try reason("10.0.0.0/8") == .noRoute)
        #expect(try reason("10.0.0.0/9") == nil)
        #expect(try reason("10.1.2.3") == nil)
        #expect(try reason("192.0.2.0/24") == nil)
        #expect(try reason("192.0.2.0/23") == .noRoute)
        #expect(try reason("default") == .noRoute)
        kernel.addRoute("10.0.0.0/8", via: "192.0.2.1")
        kernel.removeRoute("10.128.0.0/9")
        #expect(try reason("10.0.0.0/8") == nil)
        kernel.addRoute("default", via: "192.0.2.1")
        #expect(try reason("default") == nil)
        kernel.setCarrier("eth0", false)
        #expect(try reason("10.0.0.0/8") == .noCarrier)
        #expect(try reason("default") == .noCarrier)
    }

    @Test(arguments: [
        ("10.0.0.0/8", "10.0.0.0/8"), ("default", "0.0.0.0/0"), ("::/0", "::/0"), ("192.0.2.1", "192.0.2.1/32"),
        ("2001:db8::/127", "2001:db8::/127"),
    ])
    func `a prefix is parsed and contains its samples`(text: String, canonical: String) throws {
        let prefix = try prefix(text)
        #expect(prefix.description == canonical)
        #expect(!prefix.samples.isEmpty)
        #expect(prefix.samples.allSatisfy { prefix.wire.contains($0.wire) })
        #expect(Set(prefix.samples).count == prefix.samples.count)
    }

    @Test(arguments: ["", "/", "10.0.0.0/", "10.0.0.0/33", "10.0.0.1/8", "10.0.0.0/+8", "10.0.0.0/8/8", "::/129", "x"])
    func `an invalid prefix is rejected`(text: String) {
        #expect(IPPrefix(text) == nil)
    }

    @Test func `a goal is reached by the matching statuses only`() throws {
        kernel.addLink("wwan0", kind: .wwan)
        kernel.addAddress("10.64.0.2/30", to: "wwan0")
        kernel.addRoute("default", on: "wwan0")
        let watcher = try watch(NetworkCondition.Goal.allCases.map { .target(nil, $0) })
        #expect(watcher.evaluateAll().states.map(\.holds) == [true, false, false, true])
        kernel.setUp("wwan0", false)
        #expect(watcher.evaluateAll().states.map(\.holds) == [false, true, false, false])
    }

    @Test func `no query is sent while nothing changes`() async throws {
        kernel.addLink("eth0")
        let prefix = try prefix("10.0.0.0/8")
        let watcher = try watch([.target(nil, .reachable), .route(prefix), .interface("eth0")])
        settle()
        await kernel.clock.advance(by: .seconds(5))
        settle()
        let questions = kernel.questionCount
        await kernel.clock.advance(by: .seconds(86_400))
        settle()
        #expect(kernel.questionCount == questions)
        withExtendedLifetime(watcher) {}
    }

    @Test func `an invalid host is rejected`() {
        for condition in [NetworkCondition.target("a/b", .reachable), .name("192.0.2.1"), .name("http://x")] {
            #expect(throws: NetworkReachabilityError.self) { try watch([condition]) }
        }
    }
}
