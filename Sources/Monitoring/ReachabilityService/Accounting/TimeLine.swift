import LinuxSupport
package import NetworkReachability
package import ReachabilityLedger

/// A converter between CLOCK_BOOTTIME, the ledger's time and the displayed wall clock time of one boot.
package struct TimeLine: Hashable, Sendable {
    package let bootIdentifier: String
    /// The ledger's time at CLOCK_BOOTTIME zero, in nanoseconds. It is constant for the whole boot.
    package let offset: Int64
    /// The wall clock minus the ledger's time, in nanoseconds.
    ///
    /// A step of the wall clock changes the displayed time of all instants of this boot, because the later setting of the clock is assumed
    /// to be correct.
    package private(set) var labelOffset: Int64

    /// Creates the time line of a boot that no earlier run has recorded.
    ///
    /// - Parameters:
    ///   - boot: CLOCK_BOOTTIME now.
    ///   - real: CLOCK_REALTIME now.
    ///   - last: The last instant of an earlier boot. If the wall clock is behind it, the ledger's time continues there.
    ///
    /// If the wall clock is after ``latestStart``, the ledger's time starts there, to prevent an overflow. The displayed time is still the
    /// wall clock.
    package init(bootIdentifier: String, boot: Duration, real: Duration, after last: LedgerInstant? = nil) {
        let start = LedgerInstant(since1970: min(max(real, .zero), Self.latestStart))
        let now = max(start, last ?? start)
        self.init(
            bootIdentifier: bootIdentifier,
            offset: (now - boot).nanoseconds,
            labelOffset: (real - .nanoseconds(now.nanoseconds)).ledgerNanoseconds
        )
    }

    /// The latest start of a time line: the year 2200, 62 years before the ledger's time ends.
    private static let latestStart: Duration = .seconds(7_258_118_400)

    /// Creates the time line of a boot that an earlier run has recorded.
    package init(bootIdentifier: String, offset: Int64, labelOffset: Int64) {
        self.bootIdentifier = bootIdentifier
        self.offset = offset
        self.labelOffset = labelOffset
    }

    /// Returns the instant at which CLOCK_BOOTTIME has a value.
    package func instant(at boot: Duration) -> LedgerInstant {
        LedgerInstant(nanoseconds: offset) + boot
    }

    /// Returns the wall clock at an instant, since 1970.
    package func wall(at instant: LedgerInstant) -> Duration {
        .nanoseconds(instant.nanoseconds) + .nanoseconds(labelOffset)
    }

    /// Returns the instant at which the wall clock has a value, since 1970.
    package func instant(atWall wall: Duration) -> LedgerInstant {
        LedgerInstant(since1970: wall - .nanoseconds(labelOffset))
    }

    /// The minimum difference of the wall clock that counts as a step. A smaller one is drift, which changes the displayed time without an
    /// event.
    package static let shortestStep: Duration = .milliseconds(500)

    /// Adjusts the displayed time to the wall clock.
    ///
    /// - Returns: The step of the wall clock; nil if it is drift.
    package mutating func adjust(boot: Duration, real: Duration) -> Duration? {
        let label = (real - .nanoseconds(instant(at: boot).nanoseconds)).ledgerNanoseconds
        let step = Duration.nanoseconds(label) - .nanoseconds(labelOffset)
        labelOffset = label
        return max(step, .zero - step) >= Self.shortestStep ? step : nil
    }
}

/// A converter between instants of the ledger and the displayed wall clock time, over all boots.
package struct Calendar: Sendable {
    /// A boot and its first instant.
    package struct Boot: Hashable, Sendable {
        package let start: LedgerInstant
        package let line: TimeLine
    }

    /// The earlier boots, oldest first.
    private let earlier: [Boot]
    /// The current boot.
    package let current: Boot

    package init(earlier: [Boot] = [], current: Boot) {
        (self.earlier, self.current) = (earlier, current)
    }

    /// Returns the time line of the boot that contains an instant. For an instant before all boots, returns that of the first boot.
    package func line(at instant: LedgerInstant) -> TimeLine {
        if instant >= current.start { return current.line }
        return (earlier.last { $0.start <= instant } ?? earlier.first ?? current).line
    }

    /// Returns the wall clock at an instant, since 1970.
    package func wall(at instant: LedgerInstant) -> Duration { line(at: instant).wall(at: instant) }

    /// Returns the first instant at which the wall clock reached a time since 1970. If the clock was set back, there may be several.
    package func instant(atWall wall: Duration) -> LedgerInstant {
        let boots = earlier + [current]
        for (boot, next) in zip(boots, boots.dropFirst()) {
            let instant = boot.line.instant(atWall: wall)
            if instant < next.start { return instant }
        }
        return max(
            current.line.instant(atWall: wall),
            boots.count > 1 ? current.start : LedgerInstant(nanoseconds: .min)
        )
    }
}

/// The clocks of a service. Tests can replace them.
package struct ServiceClock: Sendable {
    /// CLOCK_MONOTONIC, CLOCK_BOOTTIME, timers, and events for clock steps and sleep.
    package var monitor: any MonitorClock
    /// Returns CLOCK_REALTIME, since 1970.
    package var real: @Sendable () -> Duration
    /// The identifier of this boot.
    package var bootIdentifier: String

    /// The clocks of the machine.
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
