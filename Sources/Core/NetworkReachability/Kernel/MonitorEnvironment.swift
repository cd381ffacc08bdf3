package import Dispatch
package import LinuxSupport

/// The outside world of a monitor: the kernel, time and the name service, all of which tests can play.
package struct MonitorEnvironment: Sendable {
    package var kernel: any Kernel
    package var clock: any MonitorClock
    package var resolver: any HostResolver
    /// Whether the kernel is to leave out messages of routes to elsewhere.
    package var filtersRoutes = true

    package init(kernel: any Kernel, clock: any MonitorClock, resolver: any HostResolver) {
        self.kernel = kernel
        self.clock = clock
        self.resolver = resolver
    }
}

/// The seam to time: tests advance it by hand.
package protocol MonitorClock: Sendable {
    /// Time that stands still while the machine sleeps (CLOCK_MONOTONIC).
    var monotonic: Duration { get }

    /// Time that goes on while the machine sleeps (CLOCK_BOOTTIME).
    var boot: Duration { get }

    /// Runs `action` once on `queue` after `delay`, unless cancelled before.
    func schedule(
        after delay: Duration,
        on queue: DispatchQueue,
        _ action: @escaping @Sendable () -> Void
    ) -> Cancellation

    /// Runs `action` once on `queue`, after what is there already.
    func soon(on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void)

    /// Runs `action` on `queue` whenever the machine may have slept or its clock was set; nil where that cannot be known.
    func watchForSleep(on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) -> Cancellation?
}

extension MonitorClock {
    package func soon(on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) {
        queue.async(execute: action)
    }
}
