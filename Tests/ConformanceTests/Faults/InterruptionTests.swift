import Dispatch
import KernelLab
import LinuxSupport
import Netlink
import NetworkReachabilityTesting
import Testing

@testable import NetworkReachability

/// Changes between the answers to the queries of one evaluation.
@Suite struct InterruptionTests {
    /// A listening manager of a fake world whose evaluations can be interrupted.
    private struct Stage {
        let world: FakeWorld
        let kernel: InterruptedKernel
        private let paths = RecordingListener<NetworkPath>()
        private let manager: NetworkReachabilityManager
        private let token: NetworkReachabilityToken

        /// The reasons of the reported paths; nil for a path to the network.
        var reasons: [NetworkPath.UnsatisfiedReason?] { paths.values.map(\.reason) }

        init(_ world: FakeWorld) throws {
            self.world = world
            kernel = InterruptedKernel(kernel: world.kernel)
            let monitor = PathMonitor(
                environment: MonitorEnvironment(kernel: kernel, clock: world.clock, resolver: world.resolver)
            )
            let options = NetworkReachabilityOptions()
            manager = NetworkReachabilityManager(try Target(options: options), monitor: monitor, options: options)
            token = manager.addPathListener(onQueue: nil, paths.record)
            settle()
        }

        /// Runs all pending work, including the trailing evaluation.
        func settle() {
            flush()
            world.clock.advance(by: .seconds(1))
            flush()
        }

        private func flush() {
            for _ in 0..<8 { manager.record.monitor.queue.sync {} }
        }
    }

    @Test func `a link that goes down after the answer about it is the reason, not its missing routes`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let stage = try Stage(world)
            stage.kernel.interrupt(before: \.isRoute) { $0.setUp("c0", false) }
            world.kernel.touchLink("c0")
            stage.settle()
            checks.expect(stage.reasons, is: [nil, .linkDown])
        }
    }

    @Test func `a link that comes up before the query for all links is the reason until its event is evaluated`()
        async throws
    {
        try await WorldKind.playFake(Change.ipv4Uplink + [.add("c1"), .unplug("c1")]) { world, checks in
            let stage = try Stage(world)
            stage.kernel.interrupt(before: { $0 == .links }) { kernel in
                kernel.setUp("c0", true)
                kernel.setCarrier("c1", true)
            }
            try world.apply(.down("c0"))
            stage.settle()
            checks.expect(stage.reasons, is: [nil, .linkDown, .noRoute])
            try world.apply(.regain)
            stage.settle()
            checks.expect(stage.reasons, is: [nil, .linkDown, .noRoute, nil])
        }
    }

    @Test func `a carrier that returns before the query for all links is the reason until its event is evaluated`()
        async throws
    {
        let hop = Change.addNextHop(1, via: "10.1.0.1", on: "c0")
        let route = Change.route(RouteChange("0.0.0.0/0", nextHop: 1))
        try await WorldKind.playFake(Change.cable() + [hop, route]) { world, checks in
            let stage = try Stage(world)
            stage.kernel.interrupt(before: { $0 == .links }) { $0.setCarrier("c0", true) }
            // The kernel removes the next hop object, and the route with it.
            try world.apply(.unplug("c0"))
            stage.settle()
            checks.expect(stage.reasons, is: [nil, .noCarrier, .noRoute])
        }
    }

    @Test func `a path that returns while its loss is evaluated was lost`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let stage = try Stage(world)
            stage.kernel.interrupt(before: \.isRoute) { $0.run("route del default") }
            // The link is queried again.
            stage.kernel.interrupt(before: { !$0.isRoute }) { $0.run("route add default via 10.1.0.1") }
            world.kernel.touchLink("c0")
            stage.settle()
            checks.expect(stage.reasons, is: [nil, .noRoute, nil])
        }
    }
}

/// A fake kernel in which changes can take place between two answers.
private struct InterruptedKernel: Kernel {
    private struct Interruption: Sendable {
        let isDue: @Sendable (KernelQuery) -> Bool
        let change: @Sendable (FakeKernel) -> Void
    }

    let kernel: FakeKernel
    private let interruptions = Locked<[Interruption]>([])

    init(kernel: FakeKernel) {
        self.kernel = kernel
    }

    /// Makes a change before the first answer to such a query, after all earlier interruptions.
    func interrupt(
        before isDue: @escaping @Sendable (KernelQuery) -> Bool,
        _ change: @escaping @Sendable (FakeKernel) -> Void
    ) {
        interruptions.withLock { $0.append(Interruption(isDue: isDue, change: change)) }
    }

    func connect() throws(NetlinkError) -> any KernelConnection {
        Connection(real: try kernel.connect(), kernel: self)
    }

    func defaultRoutes() throws(NetlinkError) -> [DefaultRoute] { try kernel.defaultRoutes() }

    func watchNamespace(on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) -> Cancellation? {
        kernel.watchNamespace(on: queue, changed)
    }

    private final class Connection: KernelConnection {
        let real: any KernelConnection
        let kernel: InterruptedKernel

        init(real: any KernelConnection, kernel: InterruptedKernel) {
            self.real = real
            self.kernel = kernel
        }

        var isCurrent: Bool { real.isCurrent }
        var hasEvents: Bool { real.hasEvents }
        func stopListening() { real.stopListening() }
        func setFilter(_ filter: RouteFilter?) throws(NetlinkError) { try real.setFilter(filter) }

        func listen(
            on queue: DispatchQueue,
            _ received: @escaping @Sendable (EventBurst) -> Void
        ) throws(NetlinkError) -> [String] {
            try real.listen(on: queue, received)
        }

        /// Answers one query after the other, as Linux does.
        func query(_ queries: [KernelQuery]) throws(NetlinkError) -> [KernelResponse] {
            var answers: [KernelResponse] = []
            for query in queries {
                let interruption = kernel.interruptions.withLock { interruptions in
                    interruptions.first?.isDue(query) == true ? interruptions.removeFirst() : nil
                }
                interruption?.change(kernel.kernel)
                answers += try real.query([query])
            }
            return answers
        }
    }
}

extension KernelQuery {
    fileprivate var isRoute: Bool {
        if case .route = self { true } else { false }
    }
}
