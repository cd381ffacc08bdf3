import Dispatch
import KernelLab
import NetworkReachability
import NetworkReachabilityTesting
import Testing

/// The library as its users test with it: nothing real, nothing slept.
@Suite struct FakeManagerTests {
    private let kernel = FakeKernel()
    private let resolver = FakeResolver()
    private let heard = RecordingListener<NetworkReachabilityStatus>()
    private let queue = DispatchQueue(label: "FakeManagerTests")

    private func plugIn() {
        kernel.addLink("eth0")
        kernel.addAddress("10.0.0.2/24", to: "eth0")
        kernel.addRoute("default", via: "10.0.0.1")
    }

    @Test func theNetworkAtLarge() async throws {
        let manager = try NetworkReachabilityManager(kernel: kernel)
        #expect(manager.status == .notReachable)
        plugIn()
        #expect(manager.status == .reachable(.ethernetOrWiFi))
        kernel.setCarrier("eth0", false)
        #expect(manager.status == .notReachable)
    }

    /// Between the carrier and the kernel's word that the link is dormant there are some milliseconds.
    @Test func `a link that waits for its keys is never reachable on the way to dormant`() async throws {
        kernel.addLink("wlan0", kind: .wiFi)
        kernel.addAddress("10.0.0.2/24", to: "wlan0")
        kernel.addRoute("default", via: "10.0.0.1")
        let manager = try NetworkReachabilityManager(kernel: kernel)
        #expect(manager.path.reason == nil)
        kernel.setDormant("wlan0")
        #expect(manager.path.reason == .dormant)
        kernel.setCarrier("wlan0", false)
        #expect(manager.path.reason == .noCarrier)
        kernel.setCarrier("wlan0", true, notifiedAfter: .milliseconds(3))
        #expect(manager.path.reason == .dormant)
        await kernel.clock.advance(by: .milliseconds(3))
        #expect(manager.path.reason == .dormant)
        kernel.setDormant("wlan0", false)
        #expect(manager.path.reason == nil)
    }

    @Test func aSilentLossIsHeard() async throws {
        plugIn()
        let manager = try NetworkReachabilityManager(address: try #require(IPAddress("192.0.2.7")), kernel: kernel)
        manager.startListening(onQueue: queue, onUpdatePerforming: heard.record)
        #expect(await heard.waitForCount(1))
        kernel.setUp("eth0", false)
        #expect(await heard.waitForCount(2))
        kernel.addLink("wwan0", kind: .wwan)
        kernel.addAddress("10.64.0.2/30", to: "wwan0")
        kernel.addRoute("default", on: "wwan0")
        #expect(await heard.waitForCount(3))
        #expect(heard.values == [.reachable(.ethernetOrWiFi), .notReachable, .reachable(.wwan)])
    }

    @Test func whatABatchTakesAwayAndPutsBackWasAway() async throws {
        plugIn()
        let manager = try NetworkReachabilityManager(kernel: kernel)
        manager.startListening(onQueue: queue, onUpdatePerforming: heard.record)
        #expect(await heard.waitForCount(1))
        kernel.batch {
            kernel.removeRoute("default")
            kernel.addRoute("default", via: "10.0.0.9")
        }
        #expect(await heard.waitForCount(3))
        let wired = NetworkReachabilityStatus.reachable(.ethernetOrWiFi)
        #expect(heard.values == [wired, .notReachable, wired])
    }

    @Test func anOvertakingNotificationLeavesNothingStale() async throws {
        plugIn()
        kernel.delayState()
        let manager = try NetworkReachabilityManager(kernel: kernel)
        manager.startListening(onQueue: queue, onUpdatePerforming: heard.record)
        #expect(await heard.waitForCount(1))
        kernel.removeRoute("default")
        #expect(await heard.waitForCount(2))
        #expect(heard.last == .notReachable)
    }

    @Test func aHostName() async throws {
        plugIn()
        resolver.set("example.org", addresses: ["192.0.2.1"])
        let manager = try NetworkReachabilityManager(host: "example.org", kernel: kernel, resolver: resolver)
        #expect(await manager.currentPath().status == .reachable(.ethernetOrWiFi))
        #expect(throws: NetworkReachabilityError.self) {
            try NetworkReachabilityManager(host: "https://example.org", kernel: kernel)
        }
    }
}
