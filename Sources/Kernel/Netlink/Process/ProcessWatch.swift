import Glibc
import LinuxPrimitives

/// Looks at what processes do. The file of the last one stays open, for whoever removes routes is often a daemon that does so
/// again, and opening takes as long as reading.
///
/// C counterpart: `proc(5)`, `/proc/PID/stat` and `/proc/PID/task/TID/stat`.
struct ProcessWatch: ~Copyable, Sendable {
    /// A process with more threads is not looked at; it would take too long.
    private static let threadLimit = 16

    private var process: UInt32 = 0
    /// Stays that of the same process when another gets its number, and is then that of one that has ended.
    private var file: Descriptor?

    /// What the process does that owns this netlink port. Ports are chosen freely, but the kernel gives a process's first
    /// socket the number of the process (`netlink(7)`), and libnl keeps that number in the lower 22 bits.
    mutating func activity(ofPort port: UInt32) -> ProcessActivity {
        let process = port & 0x3f_ffff
        // The kernel's own changes have none; further sockets of a process get a negative one.
        guard process > 0, port <= UInt32(Int32.max) else { return .unknown }
        guard let record = record(of: process) else {
            // It ended while it was looked at, or nothing is there although the first process of all is.
            let hasEnded = errno == ESRCH || errno == ENOENT && access("/proc/1/stat", R_OK) == 0
            return hasEnded ? .atRest : .unknown
        }
        if record.isRunning { return .atWork }
        // A first thread that has ended leaves the others to go on.
        if record.threads <= 1 { return .atRest }
        return record.threads <= Self.threadLimit ? Self.activity(ofThreadsOf: process) : .unknown
    }

    private mutating func record(of number: UInt32) -> ProcessRecord? {
        if number == process, let record = Self.record(in: file) { return record }
        process = number
        file = nil
        file = ProcessRecord.open(process: number)
        return Self.record(in: file)
    }

    private static func record(in file: borrowing Descriptor?) -> ProcessRecord? {
        switch file {
        case .some(let file): ProcessRecord(file: file)
        case .none: nil
        }
    }

    private static func activity(ofThreadsOf process: UInt32) -> ProcessActivity {
        guard let directory = opendir("/proc/\(process)/task") else { return .unknown }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            // What is not a number is "." or "..".
            let number = withUnsafeBytes(of: entry.pointee.d_name) { UInt32(decimal: $0) }
            guard let number else { continue }
            if record(in: ProcessRecord.open(process: process, thread: number))?.isRunning ?? false { return .atWork }
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
