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
        case .plug(let name): kernel.setCarrier(name, true)
        case .unplug(let name): kernel.setCarrier(name, false)
        case .dormant(let name), .waits(let name): kernel.setDormant(name)
        case .awake(let name): kernel.setDormant(name, false)
        case .neighbourFails(let address, let name): kernel.setNeighbour(address, on: name, .failed)
        case .pass(let duration):
            flush()
            clock.advance(by: duration)
        default: change.commands?.forEach(kernel.run)
        }
    }
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
