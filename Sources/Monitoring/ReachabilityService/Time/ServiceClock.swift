import LinuxSupport
package import NetworkReachability

/// The clocks of a service: tests play them.
package struct ServiceClock: Sendable {
    /// CLOCK_MONOTONIC and CLOCK_BOOTTIME, timers, and the word that the wall clock was set or the machine slept.
    package var monitor: any MonitorClock
    /// CLOCK_REALTIME, since 1970.
    package var real: @Sendable () -> Duration
    /// Which boot of the machine this is.
    package var bootIdentifier: String

    package init(monitor: any MonitorClock, real: @escaping @Sendable () -> Duration, bootIdentifier: String) {
        self.monitor = monitor
        self.real = real
        self.bootIdentifier = bootIdentifier
    }

    /// The machine's own.
    ///
    /// Source: `/proc/sys/kernel/random/boot_id`, `random(4)`.
    package static var system: ServiceClock {
        ServiceClock(
            monitor: SystemMonitorClock(),
            real: { SystemClock.real },
            bootIdentifier: SystemClock.bootIdentifier ?? ""
        )
    }
}
