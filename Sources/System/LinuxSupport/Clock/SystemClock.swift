import CLinux
import Dispatch
import Glibc

/// The kernel's clocks, each as the duration since its origin.
///
/// C counterpart: `clock_gettime(2)`.
package enum SystemClock {
    /// The time since boot without the time of sleep (CLOCK_MONOTONIC).
    package static var monotonic: Duration { read(CLOCK_MONOTONIC) }

    /// The time since boot with the time of sleep (CLOCK_BOOTTIME).
    package static var boot: Duration { read(CLOCK_BOOTTIME) }

    /// The time since 1970-01-01T00:00:00Z (CLOCK_REALTIME).
    package static var real: Duration { read(CLOCK_REALTIME) }

    /// The identifier of the current boot, `boot_id` of `random(4)`; nil if it cannot be read.
    package static let bootIdentifier = TextFile.read("/proc/sys/kernel/random/boot_id")?.filter { !$0.isWhitespace }

    private static func read(_ clock: clockid_t) -> Duration {
        var time = Glibc.timespec()
        clock_gettime(clock, &time)
        return Duration(secondsComponent: Int64(time.tv_sec), attosecondsComponent: Int64(time.tv_nsec) * 1_000_000_000)
    }
}

extension Timestamp {
    /// Creates a reading of the current time.
    package init() {
        self.init(real: SystemClock.real, monotonic: SystemClock.monotonic)
    }

    /// Returns the offset of the user's time zone (`TZ`, or the default of the machine) at a time, in seconds east of
    /// UTC.
    ///
    /// C counterpart: `localtime_r(3)`.
    package static func zoneOffset(at real: Duration) -> Int64 {
        var seconds = time_t(real.components.seconds)
        var parts = tm()
        return localtime_r(&seconds, &parts) == nil ? 0 : Int64(parts.tm_gmtoff)
    }

    /// Replaces each UTC time in a text by the local time.
    package static func localized(_ text: [UInt8]) -> [UInt8] { localized(text, offset: zoneOffset) }
}

extension Duration {
    var timespec: Glibc.timespec {
        Glibc.timespec(tv_sec: Int(components.seconds), tv_nsec: Int(components.attoseconds / 1_000_000_000))
    }
}

/// The clocks of this machine at one time. A reading can be saved and compared with a later one, even after a restart
/// of the machine.
///
/// The wall clock may be wrong by years after a boot, and may be set at any time. The age of saved data is therefore
/// measured by the time during which the machine ran.
package struct ClockReading: Hashable, Sendable {
    /// The identifier of the boot.
    package let boot: String
    /// The time of CLOCK_BOOTTIME.
    package let bootTime: Duration
    /// The time of CLOCK_REALTIME, since 1970.
    package let realTime: Duration

    package init(boot: String = SystemClock.bootIdentifier ?? "", bootTime: Duration, realTime: Duration) {
        (self.boot, self.bootTime, self.realTime) = (boot, bootTime, realTime)
    }

    /// The current reading.
    package static var system: ClockReading { ClockReading(bootTime: SystemClock.boot, realTime: SystemClock.real) }

    /// Returns the time during which the machine ran since an earlier reading. The time between two boots is not known
    /// and does not count.
    package func passed(since last: ClockReading) -> Duration {
        max(.zero, boot == last.boot ? bootTime - last.bootTime : bootTime)
    }

    /// Returns the change of the wall clock beyond that time; zero for less than 1 s, which is drift.
    package func step(since last: ClockReading) -> Duration {
        let step = realTime - last.realTime - passed(since: last)
        return .seconds(-1) < step && step < .seconds(1) ? .zero : step
    }
}

/// A clock like `ContinuousClock` that wakes sleeping tasks on its own queue.
///
/// `Task.sleep` and `ContinuousClock` always use the global queues of Dispatch. After the first use of these queues,
/// Dispatch wakes the process every second (``TaskQueue``). A sleep may take 1 % longer than requested.
package struct QuietClock: AlarmClock {
    package typealias Instant = ContinuousClock.Instant

    private static let queue = DispatchQueue(label: "LinuxSupport.QuietClock")

    package init() {}

    package var now: Instant { .now }
    package var minimumResolution: Duration { ContinuousClock().minimumResolution }

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

/// A clock of any type, as the duration since the creation of the timeline.
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

    /// The time since the creation of the timeline.
    package var now: Duration { elapsed() }

    /// Sleeps until a time of this timeline.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    package func sleep(until time: Duration) async throws {
        try await wait(time)
    }

    /// Calls `ring` once, at a time of this timeline or shortly after, on an unspecified thread. The call cannot be
    /// cancelled.
    package func setAlarm(at time: Duration, _ ring: @escaping @Sendable () -> Void) {
        alarm(time, ring)
    }
}

/// A clock that can call a function at a time without a task.
package protocol AlarmClock: Clock<Duration> {
    /// Calls `ring` once, after the delay or shortly after it. If the delay is not positive, it calls it immediately.
    func ring(after delay: Duration, _ ring: @escaping @Sendable () -> Void)
}
