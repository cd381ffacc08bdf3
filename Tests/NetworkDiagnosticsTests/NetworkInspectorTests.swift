import KernelLab
import NetworkReachabilityTesting
import Testing

@testable import NetworkDiagnostics
@testable import NetworkReachability

/// Interfaces of a network that is played.
@Suite struct NetworkInspectorTests {
    private let kernel = FakeKernel()
    private let inspector: NetworkInspector

    init() {
        inspector = NetworkInspector(kernel: kernel)
        kernel.addLink("eth0")
        kernel.addAddress("192.0.2.7/24", to: "eth0")
        kernel.addAddress("2001:db8::7/64", to: "eth0", tentative: true)
        kernel.addRoute("default", via: "192.0.2.1")
    }

    private func eth0() throws -> InterfaceDetails {
        try #require(try inspector.interfaces().first { $0.interface.name == "eth0" })
    }

    /// Waits for what is under way on the monitor's queue.
    private func settle() {
        inspector.monitor.queue.sync {}
    }

    @Test func `an interface has addresses and default routes`() throws {
        let details = try eth0()
        #expect(details.interface.type == .ethernet)
        #expect(details.state == .up)
        #expect(details.hasCarrier == true)
        #expect(!details.isExpensive)
        let addresses = details.addresses.filter { !$0.address.isLinkLocal }
        #expect(
            addresses.map { "\($0.address)/\($0.prefixLength) \($0.marks)" } == [
                "192.0.2.7/24 []", #"2001:db8::7/64 ["tentative"]"#,
            ]
        )
        #expect(
            details.defaultRoutes.map { "\($0.gateway?.description ?? "-") \($0.metric) \($0.table)" } == [
                "192.0.2.1 0 254"
            ]
        )
        #expect(try inspector.interfaces().map(\.interface.name) == ["lo", "eth0"])
    }

    @Test func `states follow the link`() throws {
        kernel.setCarrier("eth0", false)
        #expect(try eth0().state == .noCarrier)
        #expect(try eth0().hasCarrier == false)
        kernel.setCarrier("eth0", true)
        kernel.setDormant("eth0")
        #expect(try eth0().state == .dormant)
        kernel.setUp("eth0", false)
        #expect(try eth0().state == .down)
        #expect(try eth0().hasCarrier == nil)
    }

    @Test func `a modem is expensive, and so is what runs over it`() throws {
        kernel.addLink("wwan0", kind: .wwan)
        let modem = try #require(try inspector.interfaces().first { $0.interface.name == "wwan0" })
        #expect(modem.isExpensive)
        #expect(modem.interface.type == .wwan)
    }

    @Test func `watching tells of each change once, and of a storm five times a second`() async throws {
        let heard = RecordingListener<[String]>()
        let watch = inspector.watchInterfaces { result in
            heard.record(((try? result.get()) ?? []).flatMap { $0.addresses.map { "\($0.address)" } })
        }
        #expect(await heard.waitForCount(1))
        for number in 10..<60 { kernel.addAddress("198.51.100.\(number)/32", to: "eth0") }
        settle()
        #expect(heard.values.count == 1)
        await kernel.clock.advance(by: .milliseconds(200))
        #expect(await heard.waitForCount(2))
        #expect(heard.values[1].count == heard.values[0].count + 50)
        // The look that follows a burst finds nothing new.
        await kernel.clock.advance(by: .seconds(10))
        settle()
        #expect(heard.values.count == 2)
        watch.cancel()
        kernel.removeAddress("198.51.100.10/32", from: "eth0")
        await kernel.clock.advance(by: .seconds(10))
        settle()
        #expect(heard.values.count == 2)
    }
}

extension NetworkInspector {
    /// An inspector of a network that is played.
    convenience init(kernel: FakeKernel, resolver: FakeResolver = FakeResolver()) {
        let environment = MonitorEnvironment(kernel: kernel, clock: kernel.clock, resolver: resolver)
        self.init(monitor: PathMonitor(environment: environment), options: NetworkReachabilityOptions())
    }
}
