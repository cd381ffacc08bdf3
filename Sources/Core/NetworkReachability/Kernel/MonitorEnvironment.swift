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
