import Glibc
import LinuxPrimitives

/// Whether a process is doing something right now, as far as `/proc` tells: it may then change more in a moment.
///
/// C counterpart: the field `state` of `/proc/PID/stat`, `proc(5)`.
package enum ProcessActivity: Sendable {
    /// One of its threads runs, waits for a processor, or waits for a lock of the kernel's.
    case atWork
    /// All of its threads sleep, or it has ended.
    case atRest
    /// `/proc` does not tell: there is none, it hides the processes of others, or the number is no process's.
    case unknown

    private static let watch = Locked(ProcessWatch())

    /// What the process does that owns this netlink port.
    package static func ofProcess(withPort port: UInt32) -> ProcessActivity {
        let activity = watch.withLock { $0.activity(ofPort: port) }
        if activity != .atWork { return activity }
        // Perhaps it only waits for the processor that the calling thread is on, and would be done in a moment.
        sched_yield()
        return watch.withLock { $0.activity(ofPort: port) }
    }
}
