import CLinux
import Dispatch
import Glibc

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

extension Timestamp {
    /// The current time.
    package init() {
        self.init(real: SystemClock.real, monotonic: SystemClock.monotonic)
    }

    /// Returns the offset of the user's time zone (`TZ`, or the machine's) at a time, in seconds east of Greenwich.
    ///
    /// C counterpart: `localtime_r(3)`.
    package static func zoneOffset(at real: Duration) -> Int64 {
        var seconds = time_t(real.components.seconds)
        var parts = tm()
        return localtime_r(&seconds, &parts) == nil ? 0 : Int64(parts.tm_gmtoff)
    }

    /// Replaces each time of UTC in a text by the local time.
    package static func localized(_ text: [UInt8]) -> [UInt8] { localized(text, offset: zoneOffset) }
}

extension Duration {
    var timespec: Glibc.timespec {
        Glibc.timespec(tv_sec: Int(components.seconds), tv_nsec: Int(components.attoseconds / 1_000_000_000))
    }
}

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

/// A clock like `ContinuousClock` whose sleepers are woken by a queue of its own.
///
/// `Task.sleep` and `ContinuousClock` wake by the global queues of Dispatch, whatever a task prefers, and from the first use of these on
/// the process wakes every second (``TaskQueue``). Sleeps are up to a hundredth longer than asked for.
package struct QuietClock: AlarmClock {
    package typealias Instant = ContinuousClock.Instant

    private static let queue = DispatchQueue(label: "LinuxSupport.QuietClock")

    package init() {}

    package var now: Instant { .now }
    package var minimumResolution: Duration { ContinuousClock().minimumResolution }

    /// - Throws: `CancellationError` when the task is cancelled.
    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let (end, alarm) = AsyncStream.makeStream(of: Void.self)
        let timer = DispatchTimer.schedule(after: max(.zero, deadline - now), on: Self.queue) { alarm.finish() }
        for await _ in end {}
        timer.cancel()
        try Task.checkCancellation()
    }

    package func ring(after delay: Duration, _ ring: @escaping @Sendable () -> Void) {
        Self.queue.asyncAfter(deadline: .now() + .nanoseconds(Int(clamping: delay.nanoseconds)), execute: ring)
    }
}

/// A clock of any type, as the time since it was looked at first.
package struct Timeline: Sendable {
    private let elapsed: @Sendable () -> Duration
    private let wait: @Sendable (Duration) async throws -> Void
    private let alarm: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void

    package init(_ clock: some Clock<Duration>) {
        let origin = clock.now
        elapsed = { origin.duration(to: clock.now) }
        wait = { try await clock.sleep(until: origin.advanced(by: $0), tolerance: nil) }
        alarm = { time, ring in
            if let alarms = clock as? any AlarmClock {
                return alarms.ring(after: time - origin.duration(to: clock.now), ring)
            }
            Task {
                try? await clock.sleep(until: origin.advanced(by: time), tolerance: nil)
                ring()
            }
        }
    }

    /// The time since the timeline was made.
    package var now: Duration { elapsed() }

    /// Sleeps until a time of this timeline.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    package func sleep(until time: Duration) async throws {
        try await wait(time)
    }

    /// Calls `ring` once, at a time of this timeline or soon after, from a thread of no meaning. It cannot be taken back.
    package func setAlarm(at time: Duration, _ ring: @escaping @Sendable () -> Void) {
        alarm(time, ring)
    }
}

/// A clock that can call a function at a time without a task.
package protocol AlarmClock: Clock<Duration> {
    /// Calls `ring` once, after this time or soon after it; at once where it is not above zero.
    func ring(after delay: Duration, _ ring: @escaping @Sendable () -> Void)
}
