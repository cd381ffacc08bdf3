import Dispatch
import LinuxSupport
import Netlink

@testable import KernelLab
@testable import NetworkReachability
@testable import NetworkReachabilityTesting

/// A world with a fake kernel, a stopped clock and an empty name service.
final class FakeWorld: World {
    private struct WeakMonitor {
        weak let monitor: PathMonitor?
    }

    let kernel = FakeKernel()
    let resolver = FakeResolver()
    private let monitors = Locked(WeakMonitor(monitor: nil))

    var clock: ManualClock { kernel.clock }

    /// The shared monitor of this world. It exists while a manager holds it.
    var monitor: PathMonitor {
        monitors.withLock { monitors in
            if let monitor = monitors.monitor { return monitor }
            let monitor = PathMonitor(environment: MonitorEnvironment(kernel: kernel, clock: clock, resolver: resolver))
            monitors = WeakMonitor(monitor: monitor)
            return monitor
        }
    }

    func manager(
        of host: String?,
        options: NetworkReachabilityOptions
    ) throws(NetworkReachabilityError) -> NetworkReachabilityManager {
        let target = if let host { try Target(host: host, options: options) } else { try Target(options: options) }
        return NetworkReachabilityManager(target, monitor: monitor, options: options)
    }

    func targets(options: NetworkReachabilityOptions) throws(NetworkReachabilityError) -> NetworkReachabilityMonitor {
        NetworkReachabilityMonitor(monitor: monitor, options: options)
    }

    func batch(_ changes: [Change]) throws {
        try kernel.batch { try apply(changes) }
    }

    func settle() {
        flush()
        clock.advance(by: .seconds(1))
        flush()
    }

    /// Runs all work that needs no time. Thousands of targets are evaluated in portions.
    func flush() {
        let queue = monitors.withLock { $0.monitor }?.queue
        for _ in 0..<8 {
            kernel.timerQueue.sync {}
            resolver.queue.sync {}
            queue?.sync {}
        }
    }

    /// Runs `body` while the monitor's queue is blocked.
    func holdingMonitor<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure) {
        let gate = DispatchSemaphore(value: 0)
        monitor.queue.async { gate.wait() }
        defer { gate.signal() }
        try body()
    }

    func close() {}
}

extension FakeWorld {
    func apply(_ changes: [Change]) throws {
        for change in changes { apply(change) }
    }

    private func apply(_ change: Change) {
        switch change {
        case .add(let name, let kind, let lower): kernel.addLink(name, kind: kind.fake, over: lower)
        case .remove(let name): kernel.removeLink(name)
        case .up(let name): kernel.setUp(name)
        case .down(let name): kernel.setUp(name, false)
        case .plug(let name): kernel.setCarrier(name, true)
        case .unplug(let name): kernel.setCarrier(name, false)
        case .rename(let name, let other): kernel.rename(name, to: other)
        case .attach(let name, let controller): kernel.setController(name, controller)
        case .detach(let name): kernel.setController(name, nil)
        case .dormant(let name), .waits(let name): kernel.setDormant(name)
        case .awake(let name): kernel.setDormant(name, false)
        case .address(let address, let name): kernel.addAddress(address, to: name)
        case .removeAddress(let address, let name): kernel.removeAddress(address, from: name)
        case .addRoute(let route): add(route)
        case .replaceRoute(let route): replace(route)
        case .removeRoute(let route): remove(route)
        case .addRule(let rule): add(rule)
        case .removeRule(let family, let priority): kernel.removeRule(family.fake, priority: priority)
        case .addNextHop(let id, let gateway, let name): kernel.addNextHop(id, via: gateway, on: name)
        case .replaceNextHop(let id, let gateway, let name): kernel.replaceNextHop(id, via: gateway, on: name)
        case .addNextHopGroup(let id, let members): kernel.addNextHopGroup(id, of: members)
        case .removeNextHop(let id): kernel.removeNextHop(id)
        case .neighbourFails(let address, let name): kernel.setNeighbour(address, on: name, .failed)
        case .neighbourAnswers(let address, let name): kernel.setNeighbour(address, on: name, .reachable)
        case .forgetNeighbour(let address, let name): kernel.setNeighbour(address, on: name, nil)
        case .pass(let duration):
            flush()
            clock.advance(by: duration)
        }
    }

    private func add(_ route: RouteChange) {
        if let object = route.nextHop {
            kernel.addRoute(route.destination, nextHop: object, metric: route.metric, table: route.table)
        } else if !route.hops.isEmpty {
            let hops = route.hops.map { FakeKernel.Hop(via: $0.gateway, on: $0.link) }
            kernel.addRoute(route.destination, hops: hops, metric: route.metric, table: route.table)
        } else {
            kernel.addRoute(
                route.destination,
                via: route.gateway,
                on: route.link,
                metric: route.metric,
                table: route.table,
                kind: route.kind.fake,
                expiresAfter: route.lifetime.map { .seconds($0) }
            )
        }
    }

    private func replace(_ route: RouteChange) {
        kernel.replaceRoute(
            route.destination,
            via: route.gateway,
            on: route.link,
            metric: route.metric,
            table: route.table,
            kind: route.kind.fake,
            expiresAfter: route.lifetime.map { .seconds($0) }
        )
    }

    private func remove(_ route: RouteChange) {
        kernel.removeRoute(
            route.destination,
            via: route.gateway,
            on: route.link,
            metric: route.metric,
            table: route.table,
            kind: route.kind.fake
        )
    }

    private func add(_ rule: RuleChange) {
        let action: FakeKernel.RuleAction =
            switch rule.action {
            case .lookUp(let table): .lookUp(table: table)
            case .prohibit: .prohibit
            case .unreachable: .unreachable
            case .blackhole: .blackhole
            }
        kernel.addRule(
            rule.family.fake,
            priority: rule.priority,
            from: rule.source,
            to: rule.destination,
            mark: rule.mark,
            action
        )
    }
}

extension Change.Family {
    fileprivate var fake: FakeKernel.Family { self == .ipv4 ? .ipv4 : .ipv6 }
}

extension Change.LinkKind {
    fileprivate var fake: FakeKernel.LinkKind {
        switch self {
        case .cable: .veth
        case .bridge: .bridge
        case .macvlan: .macvlan
        case .vxlan: .vxlan
        case .sink: .dummy
        case .pointToPoint: .ppp
        case .rawIP: .wwan
        case .tunnel: .tun
        }
    }
}

extension RouteChange.Kind {
    fileprivate var fake: FakeKernel.RouteKind {
        switch self {
        case .unicast: .unicast
        case .local: .local
        case .blackhole: .blackhole
        case .unreachable: .unreachable
        case .prohibit: .prohibit
        case .throwing: .throwing
        }
    }
}

extension FakeWorld {
    /// Advances the clock, and runs all work that is due.
    func pass(_ duration: Duration) {
        flush()
        clock.advance(by: duration)
        flush()
    }

    /// Applies changes, and runs all work that needs no time.
    func change(_ changes: Change...) throws {
        try apply(changes)
        flush()
    }

    /// Removes and restores the default route.
    func flap() throws {
        try change(.lose)
        try change(.regain)
    }
}

extension FakeKernel {
    /// Applies changes without any message, not even about an overrun.
    func overrunSilently(_ changes: () throws -> Void) rethrows {
        state.withLock { $0.losesHints = true }
        defer { state.withLock { $0.losesHints = false } }
        try changes()
    }
}
