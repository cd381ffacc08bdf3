import KernelLab
import LinuxSupport
import NetworkLab
import NetworkReachability
import NetworkReachabilityTesting
import ServiceLab
import SystemBus
import Testing

@testable import ReachabilityServer
@testable import ReachabilityService

/// The properties that the service publishes on the system bus.
@Suite struct BusPublisherTests {
    private let kernel = FakeKernel.connected()
    private let service: MonitoringService
    private let manager: NetworkReachabilityManager

    init() throws {
        manager = try NetworkReachabilityManager(kernel: kernel)
        service = MonitoringService(clock: .fake(kernel.clock), resume: .init())
        service.insert("internet", manager)
    }

    /// A publisher that has no bus.
    private func publisher() -> BusPublisher { BusPublisher(service, version: "1.2.3", at: "unix:path=/nowhere/bus") }

    private func tables(_ publisher: BusPublisher) -> [String: [String: BusValue]] {
        if case .tables(let tables)? = publisher.properties()["Targets"] { tables } else { [:] }
    }

    @Test func `the properties describe the first target and follow its path`() async throws {
        let publisher = publisher()
        try await waitUntil { publisher.properties()["Gateway"] != .text("") }
        let up = publisher.properties()
        #expect(up["Status"] == .text("up") && up["Party"] == .text("") && up["Reason"] == .text(""))
        #expect(up["Target"] == .text("internet") && up["Version"] == .text("1.2.3"))
        #expect(up["Interface"] == .text("eth0"))
        #expect(up["Headline"] == .text("The path out of this machine is up. Nothing beyond it is checked"))
        #expect(up["Since"] == .number(1_700_000_000_000_000 + UInt64(kernel.clock.boot.nanoseconds / 1000)))
        kernel.setCarrier("eth0", false)
        try await waitUntil { publisher.properties()["Status"] == .text("down") }
        let down = publisher.properties()
        #expect(down["Party"] == .text("us") && down["Cause"] == .text("link"))
        #expect(down["Reason"] == .text("noCarrier"))
        kernel.setCarrier("eth0", true)
        try await waitUntil { publisher.properties()["Status"] == .text("up") }
        publisher.stop()
    }

    @Test func `each target has an entry until it is removed`() async throws {
        let publisher = publisher()
        #expect(Array(tables(publisher).keys) == ["internet"])
        service.insert("erp\u{7}", manager)
        try await waitUntil { tables(publisher).count == 2 }
        #expect(tables(publisher)["erp\u{7}"]?["Sentence"] == .text("The path to erp\\u{7} is up"))
        service.remove("erp\u{7}")
        try await waitUntil { tables(publisher).count == 1 }
        service.remove("internet")
        try await waitUntil { tables(publisher).isEmpty }
        let empty = publisher.properties()
        #expect(empty["Status"] == .text("unknown") && empty["Target"] == .text("") && empty["Since"] == .number(0))
        publisher.stop()
    }

    @Test func `targets above the limit are not published`() async throws {
        service.insert("a", manager)
        service.insert("b", manager)
        let publisher = BusPublisher(service, version: "1.2.3", at: "unix:path=/nowhere/bus", targetLimit: 2)
        #expect(Set(tables(publisher).keys) == ["internet", "a"])
        service.remove("a")
        try await waitUntil { Set(tables(publisher).keys) == ["internet", "b"] }
        publisher.stop()
    }
}
