import LinuxSupport
package import NetworkReachability
package import ReachabilityLedger

/// The relation of the clocks of one boot to the time of the ledger and to the displayed time.
package struct TimeLine: Hashable, Sendable {
    package let bootIdentifier: String
    /// The ledger's time at CLOCK_BOOTTIME zero, in nanoseconds. It never changes while the boot lasts.
    package let offset: Int64
    /// The wall clock minus the ledger's time, in nanoseconds. A step of the wall clock changes it for all moments of this boot, because
    /// the later setting is the intended one.
    package private(set) var labelOffset: Int64

    /// The time line of a boot that is seen for the first time.
    ///
    /// - Parameters:
    ///   - boot: CLOCK_BOOTTIME now.
    ///   - real: CLOCK_REALTIME now.
    ///   - last: The last moment of an earlier boot. The ledger's time continues there if the wall clock is behind it.
    ///
    /// A wall clock after ``latestStart`` starts the line there, to prevent an overflow. Labels still show the wall clock.
    package init(bootIdentifier: String, boot: Duration, real: Duration, after last: LedgerInstant? = nil) {
        let start = LedgerInstant(since1970: min(max(real, .zero), Self.latestStart))
        let now = max(start, last ?? start)
        self.init(
            bootIdentifier: bootIdentifier,
            offset: (now - boot).nanoseconds,
            labelOffset: (real - .nanoseconds(now.nanoseconds)).ledgerNanoseconds
        )
    }

    /// The latest start of a line: the year 2200, 62 years before its end.
    private static let latestStart: Duration = .seconds(7_258_118_400)

    /// The time line of a boot that an earlier run has seen.
    package init(bootIdentifier: String, offset: Int64, labelOffset: Int64) {
        self.bootIdentifier = bootIdentifier
        self.offset = offset
        self.labelOffset = labelOffset
    }

    /// Returns the moment of a reading of CLOCK_BOOTTIME.
    package func instant(at boot: Duration) -> LedgerInstant {
        LedgerInstant(nanoseconds: offset) + boot
    }

    /// Returns the wall clock at a moment, since 1970.
    package func wall(at instant: LedgerInstant) -> Duration {
        .nanoseconds(instant.nanoseconds) + .nanoseconds(labelOffset)
    }

    /// Returns the moment of a reading of the wall clock.
    package func instant(atWall wall: Duration) -> LedgerInstant {
        LedgerInstant(since1970: wall - .nanoseconds(labelOffset))
    }

    /// A smaller difference is drift, which labels follow without an event.
    package static let shortestStep: Duration = .milliseconds(500)

    /// Adjusts the labels to the wall clock.
    ///
    /// - Returns: The step of the clock, if it is more than drift.
    package mutating func adjust(boot: Duration, real: Duration) -> Duration? {
        let label = (real - .nanoseconds(instant(at: boot).nanoseconds)).ledgerNanoseconds
        let step = Duration.nanoseconds(label) - .nanoseconds(labelOffset)
        labelOffset = label
        return abs(step) >= Self.shortestStep ? step : nil
    }
}

private func abs(_ duration: Duration) -> Duration { duration < .zero ? .zero - duration : duration }

/// The displayed times of the moments of all boots.
package struct Calendar: Sendable {
    /// A boot and its first moment.
    package struct Era: Hashable, Sendable {
        package let start: LedgerInstant
        package let line: TimeLine

        package init(start: LedgerInstant, line: TimeLine) {
            (self.start, self.line) = (start, line)
        }
    }

    /// The oldest first.
    private let earlier: [Era]
    /// This boot.
    package let current: Era

    package init(earlier: [Era] = [], current: Era) {
        (self.earlier, self.current) = (earlier, current)
    }

    /// Returns the boot of a moment; the first boot for earlier moments.
    package func line(at instant: LedgerInstant) -> TimeLine {
        if instant >= current.start { return current.line }
        return (earlier.last { $0.start <= instant } ?? earlier.first ?? current).line
    }

    /// Returns the wall clock at a moment, since 1970.
    package func wall(at instant: LedgerInstant) -> Duration { line(at: instant).wall(at: instant) }

    /// Returns the first moment at which the wall clock has reached a time. There may be several if the clock was set back.
    package func instant(atWall wall: Duration) -> LedgerInstant {
        let eras = earlier + [current]
        for (era, next) in zip(eras, eras.dropFirst()) {
            let instant = era.line.instant(atWall: wall)
            if instant < next.start { return instant }
        }
        return max(
            current.line.instant(atWall: wall),
            eras.count > 1 ? current.start : LedgerInstant(nanoseconds: .min)
        )
    }
}

/// The clocks of a service, which tests replace.
package struct ServiceClock: Sendable {
    /// CLOCK_MONOTONIC, CLOCK_BOOTTIME, timers, and events of clock steps and of sleep.
    package var monitor: any MonitorClock
    /// CLOCK_REALTIME, since 1970.
    package var real: @Sendable () -> Duration
    /// The identifier of this boot.
    package var bootIdentifier: String

    package init(monitor: any MonitorClock, real: @escaping @Sendable () -> Duration, bootIdentifier: String) {
        self.monitor = monitor
        self.real = real
        self.bootIdentifier = bootIdentifier
    }

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
