package import CLinux
package import Glibc

/// The kernel's clocks as durations since their own beginnings.
///
/// C counterpart: `clock_gettime(2)`.
package enum SystemClock {
    /// Time since start, standing still while the machine sleeps (CLOCK_MONOTONIC).
    package static var monotonic: Duration { read(CLOCK_MONOTONIC) }

    /// Time since start, going on while the machine sleeps (CLOCK_BOOTTIME).
    package static var boot: Duration { read(CLOCK_BOOTTIME) }

    /// Time since 1970-01-01T00:00:00Z (CLOCK_REALTIME).
    package static var real: Duration { read(CLOCK_REALTIME) }

    /// The identifier of this boot of the machine, `boot_id` of random(4); nil if it cannot be read.
    package static let bootIdentifier = TextFile.read("/proc/sys/kernel/random/boot_id")?.filter { !$0.isWhitespace }

    private static func read(_ clock: clockid_t) -> Duration {
        var time = Glibc.timespec()
        clock_gettime(clock, &time)
        return Duration(secondsComponent: Int64(time.tv_sec), attosecondsComponent: Int64(time.tv_nsec) * 1_000_000_000)
    }
}

extension Duration {
    /// Whole nanoseconds; a negative duration counts as zero, and one of more than 292 years as the longest there is.
    package var nanoseconds: Int64 {
        guard self < .nanoseconds(Int64.max) else { return .max }
        guard self > .zero else { return 0 }
        return components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
    }

    /// Whole milliseconds, rounded toward zero. A duration that does not fit is the nearest one that does.
    package var milliseconds: Int64 {
        if self >= .milliseconds(Int64.max) { return .max }
        if self <= .milliseconds(Int64.min) { return .min }
        return components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }

    package var timespec: Glibc.timespec {
        Glibc.timespec(tv_sec: Int(components.seconds), tv_nsec: Int(components.attoseconds / 1_000_000_000))
    }
}
