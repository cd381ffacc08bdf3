import Dispatch
import LinuxSupport

@testable import KernelLab
@testable import NetworkReachability
@testable import NetworkReachabilityTesting

/// A fake kernel, a clock that stands still and a name service that knows nothing.
final class FakeWorld: World {
    private struct WeakMonitor {
        weak let monitor: PathMonitor?
    }

    let kernel = FakeKernel()
    let resolver = FakeResolver()
    private let monitors = Locked(WeakMonitor(monitor: nil))

    var clock: ManualClock { kernel.clock }

    /// The one monitor of this world, as long as a manager holds it.
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

    /// Lets everything happen that needs no time: thousands of targets take their turns in portions.
    func flush() {
        let queue = monitors.withLock { $0.monitor }?.queue
        for _ in 0..<8 {
            kernel.timerQueue.sync {}
            resolver.queue.sync {}
            queue?.sync {}
        }
    }

    /// Does something while the monitor can do nothing.
    func holdingMonitor<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure) {
        let gate = DispatchSemaphore(value: 0)
        monitor.queue.async { gate.wait() }
        defer { gate.signal() }
        try body()
    }

    func close() {}
}
