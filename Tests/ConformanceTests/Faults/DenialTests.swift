import Dispatch
import KernelLab
import LinuxSupport
import Logging
import Netlink
import NetworkReachabilityTesting
import TestSupport
import Testing

@testable import NetworkReachability

/// Netlink that is unavailable at the start, later or temporarily.
@Suite struct DenialTests {
    @Test(arguments: FakeKernel.Fault.allCases)
    func `a denied connection is retried with increasing delays`(fault: FakeKernel.Fault) async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            world.kernel.denyNetlink(fault)
            let listener = Listener()
            let manager = try world.manager()
            checks.expect(manager.status, is: .unknown)
            checks.expect(manager.flags == nil, "flags of nothing")
            checks.expect(manager.path.reason, is: .netlinkUnavailable)
            let isServed = manager.startListening(onQueue: listener.queue, onUpdatePerforming: listener.record)
            checks.expect(isServed, is: true)
            world.flush()
            checks.expect(listener.values, is: [.unknown])
            // The delay doubles from 0.1 s to 30 s.
            for delay in [100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 30000, 30000] {
                checks.expect(world.clock.timeToNextAction, is: .milliseconds(delay))
                world.clock.advance(by: .milliseconds(delay))
                world.flush()
            }
            checks.expect(listener.values, is: [.unknown])
            world.kernel.denyNetlink(nil)
            world.clock.advance(by: .seconds(30))
            world.flush()
            checks.expect(listener.values, is: [.unknown, .wired])
            try world.apply(.lose)
            world.flush()
            checks.expect(listener.values, is: [.unknown, .wired, .notReachable])
        }
    }

    @Test func `the delay starts again after a success`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            world.kernel.denyNetlink()
            let (manager, listener) = try world.listeningManager()
            world.flush()
            world.clock.advance(by: .seconds(5))
            world.kernel.denyNetlink(nil)
            world.clock.advance(by: .seconds(10))
            world.flush()
            checks.expect(listener.values, is: [.unknown, .wired])
            world.kernel.failQuestions()
            try world.apply(.lose)
            world.flush()
            checks.expect(listener.values, is: [.unknown, .wired, .unknown])
            checks.expect(world.clock.timeToNextAction, is: .milliseconds(100))
            withExtendedLifetime(manager) {}
        }
    }

    @Test(arguments: FakeKernel.Fault.allCases)
    func `listeners recover from temporarily failing queries`(fault: FakeKernel.Fault) async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let (manager, listener) = try world.listeningManager()
            world.settle()
            world.kernel.failQuestions(fault)
            checks.expect(manager.status, is: .unknown)
            world.kernel.touchLink("c0")
            world.settle()
            checks.expect(listener.values.first, is: .wired)
            try world.apply(.lose)
            world.kernel.failQuestions(nil)
            checks.expect(manager.status, is: .notReachable)
            world.clock.advance(by: .seconds(30))
            world.flush()
            checks.expect(listener.values.last, is: .notReachable)
            checks.expect(world.kernel.listenerCount, is: 1)
            checks.expect(world.kernel.connectionCount, is: 1)
            try world.apply(.regain)
            world.flush()
            checks.expect(listener.values.last, is: .wired)
        }
    }

    /// The caller's query detects that the connection is broken. No event follows.
    @Test func `listeners recover after a failed query of another caller`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let (manager, listener) = try world.listeningManager()
            world.settle()
            world.kernel.failQuestions()
            checks.expect(manager.status, is: .unknown)
            world.kernel.failQuestions(nil)
            try world.apply(.lose)
            world.flush()
            world.clock.advance(by: .seconds(60))
            world.flush()
            checks.expect(listener.values.last, is: .notReachable)
            checks.expect(world.kernel.listenerCount, is: 1)
        }
    }

    @Test func `each failure is logged once`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let log = RecordingLog.warnings()
            var options = NetworkReachabilityOptions()
            options.logger = log.logger
            let manager = try world.manager(of: nil, options: options)
            for round in 1...2 {
                world.kernel.failQuestions()
                for _ in 0..<5 { checks.expect(manager.status, is: .unknown) }
                checks.expect(log.lines, is: Array(repeating: "status is unknown", count: 2 * round - 1))
                // Another failure is logged, too.
                world.kernel.failQuestions(.notPermitted)
                for _ in 0..<5 { checks.expect(manager.status, is: .unknown) }
                checks.expect(log.lines.count, is: 2 * round)
                world.kernel.failQuestions(nil)
                checks.expect(manager.status, is: .wired)
            }
        }
    }

    @Test func `listeners follow a replaced namespace`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let (manager, listener) = try world.listeningManager()
            world.settle()
            world.kernel.replaceNamespace()
            world.flush()
            checks.expect(listener.values, is: [.wired, .notReachable])
            checks.expect(world.kernel.connectionCount, is: 1)
            try world.apply(Change.ipv4Uplink)
            world.flush()
            checks.expect(listener.values, is: [.wired, .notReachable, .wired])
            checks.expect(manager.status, is: .wired)
        }
    }

    @Test func `a query detects a replaced namespace without listeners`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let manager = try world.manager()
            checks.expect(manager.status, is: .wired)
            world.kernel.replaceNamespace()
            checks.expect(manager.status, is: .notReachable)
            checks.expect(world.kernel.connectionCount, is: 1)
        }
    }
}

/// A kernel without all multicast groups, such as an older one. The results are still correct, and the missing groups
/// are logged once.
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
        func query(_ queries: [KernelQuery]) throws(NetlinkError) -> [KernelResponse] { try real.query(queries) }
        func stopListening() { real.stopListening() }
        func setFilter(_ filter: RouteFilter?) throws(NetlinkError) { try real.setFilter(filter) }

        func listen(
            on queue: DispatchQueue,
            _ received: @escaping @Sendable (EventBurst) -> Void
        ) throws(NetlinkError) -> [String] {
            try real.listen(on: queue, received) + ["NEXTHOP", "IPV6_NETCONF"]
        }
    }

    @Test func `missing multicast groups are logged and do not prevent listening`() async throws {
        let world = FakeWorld()
        try world.apply(Change.ipv4Uplink)
        let log = RecordingLog.warnings()
        let environment = MonitorEnvironment(
            kernel: OlderKernel(kernel: world.kernel),
            clock: world.clock,
            resolver: world.resolver
        )
        let monitor = PathMonitor(
            environment: environment,
            logger: log.logger
        )
        let targets = NetworkReachabilityMonitor(monitor: monitor, options: NetworkReachabilityOptions())
        let recorder = ChangeRecorder()
        let token = targets.listen(recorder)
        try targets.insert("192.0.2.1")
        #expect(await recorder.received.waitForCount(1))
        try world.apply(.addRoute(RouteChange("192.0.2.1/32", .blackhole)))
        #expect(await recorder.received.waitForCount(2))
        #expect(recorder.histories["192.0.2.1"] == [.wired, .notReachable])
        #expect(log.lines == ["kernel lacks multicast groups: NEXTHOP IPV6_NETCONF"])
        token.cancel()
    }
}

/// Routes with several next hops. The kernel selects one for each destination and source.
@Suite struct SeveralHopsTests {
    /// The kernel keeps the hop of an address regardless of its carrier.
    @Test(arguments: WorldKind.allCases)
    func `only addresses whose hop lost its carrier are not reachable`(kind: WorldKind) async throws {
        try await kind.play(Change.cable() + Change.cable("c1", 2)) { world, checks in
            let hops = [("10.1.0.1", "c0"), ("10.2.0.1", "c1")]
            try world.apply(.addRoute(RouteChange("0.0.0.0/0", hops: hops)))
            let managers = try (1...24).map { try world.manager(of: "203.0.113.\($0)") }
            let before = managers.map { $0.path.interface?.name }
            checks.expect(Set(before), is: ["c0", "c1"])
            try world.apply(.unplug("c0"))
            world.settle()
            for (manager, name) in zip(managers, before) {
                let path = manager.path
                checks.expect(path.interface?.name, is: name)
                checks.expect(path.reason, is: name == "c0" ? .noCarrier : nil)
            }
        }
    }

    /// For IPv6 the kernel selects a hop for each transport protocol. An address is reachable if its TCP and UDP hops
    /// have carrier.
    @Test(arguments: WorldKind.allCases)
    func `an IPv6 address is reachable if its TCP and UDP hops have carrier`(kind: WorldKind) async throws {
        try await kind.play(Change.cable() + Change.cable("c1", 2)) { world, checks in
            let hops = [("fd01::1", "c0"), ("fd02::1", "c1")]
            try world.apply(.addRoute(RouteChange("::/0", hops: hops)))
            try world.apply(.unplug("c0"))
            world.settle()
            let paths = try (1...32).map { try world.manager(of: "2001:db8::\($0)").path }
            let reachable = paths.count { $0.status.isReachable }
            // About a quarter of the addresses is expected. It would be half with a single lookup.
            checks.expect((1...31).contains(reachable), is: true)
            for path in paths {
                checks.expect(path.interface?.name, is: path.status.isReachable ? "c1" : "c0")
            }
        }
    }

    /// If evaluations returned different hops, listeners would receive redundant changes.
    @Test func `repeated evaluations return the same hop`() async throws {
        try await WorldKind.playFake(Change.cable()) { world, checks in
            let managers = try (1...16).map { try world.manager(of: "203.0.113.\($0)") }
            let listeners = managers.map { _ in RecordingListener<NetworkPath>() }
            let tokens = zip(managers, listeners).map { $0.addPathListener(onQueue: nil, $1.record) }
            world.flush()
            let hops = [("10.1.0.1", "c0"), ("10.1.0.3", "c0")]
            try world.apply(.addRoute(RouteChange("0.0.0.0/0", hops: hops)))
            world.settle()
            for (manager, listener) in zip(managers, listeners) {
                checks.expect(listener.values.count, is: 2)
                checks.expect(listener.values.last?.gateway, is: manager.path.gateway)
            }
            let gateways = Set(managers.map { $0.path.gateway?.description })
            checks.expect(gateways, is: ["10.1.0.1", "10.1.0.3"])
            for token in tokens { token.cancel() }
        }
    }
}

/// Rules on the source of packets, which match only lookups with that source.
@Suite struct SourceRuleTests {
    /// The notification of the rule was lost.
    @Test func `a query right after a rule was added observes the rule`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let (manager, _) = try world.listeningManager()
            world.flush()
            try world.kernel.overrun {
                try world.apply(.addRule(RuleChange(from: "10.1.0.0/24", .prohibit)))
                checks.expect(manager.status, is: .notReachable)
            }
        }
    }

    @Test func `a rule whose notification was lost in an overrun is observed`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let (manager, listener) = try world.listeningManager()
            world.flush()
            try world.kernel.overrun { try world.apply(.addRule(RuleChange(from: "10.1.0.0/24", .prohibit))) }
            world.flush()
            checks.expect(listener.values, is: [.wired, .notReachable])
            withExtendedLifetime(manager) {}
        }
    }
}
