import CLinux
import Glibc

/// Becomes readable when the machine wakes from sleep or somebody sets its clock, and never otherwise: the kernel
/// cancels the timer at both.
///
/// C counterpart: `timerfd_create(2)` with TFD_TIMER_CANCEL_ON_SET.
package final class ClockWatch: Sendable {
    private let timer: Descriptor

    package init() throws(SystemError) {
        let number = timerfd_create(CLOCK_REALTIME, CInt(TFD_CLOEXEC | TFD_NONBLOCK))
        guard number >= 0 else { throw .current }
        timer = Descriptor(owning: number)
        try arm()
    }

    package var descriptor: CInt { timer.number }

    /// Takes note of a cancellation and waits for the next.
    package func rearm() {
        var expirations: UInt64 = 0
        _ = read(timer.number, &expirations, MemoryLayout<UInt64>.size)
        try? arm()
    }

    private func arm() throws(SystemError) {
        // Far enough to never fire, near enough for every clock's arithmetic.
        var far = itimerspec()
        far.it_value.tv_sec = Int(SystemClock.real.components.seconds) + 100 * 365 * 86400
        let flags = CInt(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET)
        guard timerfd_settime(timer.number, flags, &far, nil) == 0 else { throw .current }
    }
}
