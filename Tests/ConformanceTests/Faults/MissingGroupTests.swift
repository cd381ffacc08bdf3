import Dispatch
import KernelLab
import LinuxSupport
import Logging
import Netlink
import NetworkReachabilityTesting
import Testing

@testable import NetworkReachability

/// A kernel that does not have all groups, as an older one: its answers are right all the same, and it is said once.
@Suite struct MissingGroupTests {
    private struct OlderKernel: Kernel {
        let kernel: FakeKernel

        func connect() throws(NetlinkError) -> any KernelConnection { Connection(real: try kernel.connect()) }
        func defaultRoutes() throws(NetlinkError) -> [DefaultRoute] { try kernel.defaultRoutes() }

        func watchNamespace(on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) -> Cancellation? {
            kernel.watchNamespace(on: queue, changed)
        }
    }

    private final class Connection: KernelConnection {
        let real: any KernelConnection

        init(real: any KernelConnection) {
            self.real = real
        }

        var isCurrent: Bool { real.isCurrent }
        var hasEvents: Bool { real.hasEvents }
        func ask(_ questions: [KernelQuestion]) throws(NetlinkError) -> [KernelAnswer] { try real.ask(questions) }
        func stopListening() { real.stopListening() }
        func setFilter(_ filter: RouteFilter?) throws(NetlinkError) { try real.setFilter(filter) }

        func listen(
            on queue: DispatchQueue,
            _ heard: @escaping @Sendable (EventBurst) -> Void
        ) throws(NetlinkError) -> [String] {
            try real.listen(on: queue, heard) + ["NEXTHOP", "IPV6_NETCONF"]
        }
    }

    @Test func `they are left out, and the log says which`() async throws {
        let world = FakeWorld()
        try world.apply(Change.ipv4Uplink)
        let log = RecordingListener<String>()
        let environment = MonitorEnvironment(
            kernel: OlderKernel(kernel: world.kernel),
            clock: world.clock,
            resolver: world.resolver
        )
        let monitor = PathMonitor(
            environment: environment,
            logger: Logger(label: "MissingGroupTests") { _ in WarningRecorder(log) }
        )
        let targets = NetworkReachabilityMonitor(monitor: monitor, options: NetworkReachabilityOptions())
        let recorder = ChangeRecorder()
        let token = targets.listen(recorder)
        try targets.insert("192.0.2.1")
        #expect(await recorder.heard.waitForCount(1))
        try world.apply(.addRoute(RouteChange("192.0.2.1/32", .blackhole)))
        #expect(await recorder.heard.waitForCount(2))
        #expect(recorder.histories["192.0.2.1"] == [.wired, .notReachable])
        #expect(log.values == ["the kernel lacks groups: NEXTHOP IPV6_NETCONF"])
        token.cancel()
    }
}
