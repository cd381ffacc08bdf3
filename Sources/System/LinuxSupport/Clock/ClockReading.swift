/// The clocks of this machine at one moment, to be written down and compared with a later moment, also after a restart of the machine.
///
/// The system's clock may be wrong after a boot, by years, and be set at any time. What is deleted by its age therefore counts the time
/// that has passed while the machine ran.
package struct ClockReading: Hashable, Sendable {
    /// The identifier of the boot.
    package let boot: String
    /// CLOCK_BOOTTIME.
    package let bootTime: Duration
    /// CLOCK_REALTIME, since 1970.
    package let realTime: Duration

    package init(boot: String = SystemClock.bootIdentifier ?? "", bootTime: Duration, realTime: Duration) {
        (self.boot, self.bootTime, self.realTime) = (boot, bootTime, realTime)
    }

    /// The clocks now.
    package static var system: ClockReading { ClockReading(bootTime: SystemClock.boot, realTime: SystemClock.real) }

    /// The time for which the machine ran since an earlier reading. Of the time between two boots nothing is known.
    package func passed(since last: ClockReading) -> Duration {
        max(.zero, boot == last.boot ? bootTime - last.bootTime : bootTime)
    }

    /// How far the system's clock has gone beyond that time; zero for less than a second, which is drift.
    package func step(since last: ClockReading) -> Duration {
        let step = realTime - last.realTime - passed(since: last)
        return .seconds(-1) < step && step < .seconds(1) ? .zero : step
    }
}
