import Glibc

/// Whether a process is doing something right now, as far as `/proc` tells: it may then change more in a moment.
///
/// C counterpart: `proc(5)`, `/proc/PID/stat` and `/proc/PID/task/TID/stat`.
package enum ProcessActivity: Sendable {
    /// One of its threads runs, waits for a processor, or waits for a lock of the kernel's.
    case atWork
    /// All of its threads sleep, or it has ended.
    case atRest
    /// `/proc` does not tell: there is none, it hides the processes of others, or the number is no process's.
    case unknown

    /// A process with more threads is not looked at; it would take too long.
    private static let threadLimit = 16

    /// What the process does that owns this netlink port. Ports are chosen freely, but the kernel gives a process's first
    /// socket the number of the process (`netlink(7)`), and libnl keeps that number in the lower 22 bits.
    package static func ofProcess(withPort port: UInt32) -> ProcessActivity {
        let process = port & 0x3f_ffff
        // The kernel's own changes have none; further sockets of a process get a negative one.
        guard process > 0, port <= UInt32(Int32.max) else { return .unknown }
        let activity = of(process: process)
        if activity != .atWork { return activity }
        // Perhaps it only waits for the processor that the calling thread is on, and would be done in a moment.
        sched_yield()
        return of(process: process)
    }

    private static func of(process number: UInt32) -> ProcessActivity {
        guard let process = ProcessRecord(process: number) else {
            // It ended while it was looked at, or nothing is there although the first process of all is.
            let hasEnded = errno == ESRCH || errno == ENOENT && access("/proc/1/stat", R_OK) == 0
            return hasEnded ? .atRest : .unknown
        }
        if process.isRunning { return .atWork }
        // A first thread that has ended leaves the others to go on.
        if process.threads <= 1 { return .atRest }
        return process.threads <= threadLimit ? ofThreads(of: number) : .unknown
    }

    private static func ofThreads(of process: UInt32) -> ProcessActivity {
        guard let directory = opendir("/proc/\(process)/task") else { return .unknown }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            // What is not a number is "." or "..".
            let number = withUnsafeBytes(of: entry.pointee.d_name) { UInt32(decimal: $0) }
            guard let number, let thread = ProcessRecord(process: process, thread: number) else { continue }
            if thread.isRunning { return .atWork }
        }
        return .atRest
    }
}

extension UInt32 {
    /// A number in decimal digits, and nothing else before the zero that ends it.
    fileprivate init?(decimal text: UnsafeRawBufferPointer) {
        var number: UInt32?
        for byte in text.prefix(while: { $0 != 0 }) {
            guard number.append(digit: byte) else { return nil }
        }
        guard let number else { return nil }
        self = number
    }
}
