import LinuxPrimitives

/// One moment on three clocks.
package struct RecordedMoment: Hashable, Sendable {
    /// Since 1970-01-01T00:00:00Z (CLOCK_REALTIME).
    package var real: Duration
    /// CLOCK_MONOTONIC.
    package var monotonic: Duration
    /// CLOCK_BOOTTIME.
    package var boot: Duration

    package init(real: Duration, monotonic: Duration, boot: Duration) {
        self.real = real
        self.monotonic = monotonic
        self.boot = boot
    }

    /// Now.
    package static var now: RecordedMoment {
        RecordedMoment(real: SystemClock.real, monotonic: SystemClock.monotonic, boot: SystemClock.boot)
    }
}
