import CLinux
import Glibc

/// The environment variables of this process.
///
/// C counterpart: `getenv(3)`.
package enum EnvironmentVariable {
    /// Returns the value of a variable; nil if it is not set or empty.
    package static func value(of name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}

/// The memory allocator of this process.
package enum Memory {
    /// Makes all threads use one arena of the allocator. Otherwise each thread keeps memory in its own arena. It is
    /// intended for a program whose threads mostly work one after another. Call it at the start of the program.
    ///
    /// C counterpart: `mallopt(3)`, `M_ARENA_MAX`.
    package static func useSingleArena() {
        mallopt(M_ARENA_MAX, 1)
    }
}

/// A capability of a process, by its name in `capabilities(7)`.
package enum Capability: String, Hashable, Sendable {
    /// Entering a network namespace, `setns(2)`.
    case systemAdministration = "CAP_SYS_ADMIN"
    /// Reading the open files and the namespaces of another user's process, `ptrace(2)`.
    case processTracing = "CAP_SYS_PTRACE"
    /// Ignoring the permissions of directories, `path_resolution(7)`.
    case readSearch = "CAP_DAC_READ_SEARCH"
}

/// A handle of a process. It stays valid if another process gets the same number.
///
/// Thread-safe. C counterpart: `pidfd_open(2)`.
package final class ProcessHandle: Sendable {
    /// The process's number in the caller's PID namespace.
    package let number: Int32
    private let file: Descriptor

    package init(_ number: Int32) throws(SystemError) {
        let file = clinux_pidfd_open(number)
        guard file >= 0 else {
            let error = SystemError.current
            throw [.invalidArgument, .noEntry].contains(error) ? .noSuchProcess : error
        }
        self.file = Descriptor(owning: file)
        self.number = number
    }

    /// The descriptor, which is readable once the process has ended.
    package var descriptor: CInt { file.number }

    /// True if the last thread of the process has ended, even if the parent has not waited for the process.
    package var hasEnded: Bool {
        var poll = pollfd(fd: file.number, events: Int16(POLLIN), revents: 0)
        return Glibc.poll(&poll, 1, 0) > 0
    }
}

/// The start time of a process.
///
/// C counterpart: `proc_pid_stat(5)`, `starttime`.
package enum ProcessStart {
    /// The start time of this process, by CLOCK_BOOTTIME, rounded down to the kernel's unit of 1/100 s; nil if `/proc`
    /// is not mounted.
    package static var boot: Duration? { boot(stat: "/proc/self/stat") }

    /// Returns the start time of a process.
    ///
    /// - Parameter file: The path of its `/proc/PID/stat`.
    package static func boot(stat file: String) -> Duration? {
        guard let text = TextFile.read(file) else { return nil }
        return boot(text: text, ticks: sysconf(CInt(_SC_CLK_TCK)))
    }

    /// - Parameters:
    ///   - text: The content of the file. The second field, the name, is in parentheses and may contain any character.
    ///   - ticks: The number of clock ticks per second.
    static func boot(text: String, ticks: Int) -> Duration? {
        guard ticks > 0, let end = text.unicodeScalars.lastIndex(of: ")") else { return nil }
        let fields = text[text.unicodeScalars.index(after: end)...].words
        // The state is the third field. The start time is field 22.
        guard fields.count > 19, let start = Int64(fields[19]), start >= 0 else { return nil }
        return .nanoseconds(start * (1_000_000_000 / Int64(ticks)))
    }
}

/// The resource usage of this process.
///
/// C counterpart: `getrusage(2)`, `proc_pid_statm(5)`.
package struct ProcessUsage: Sendable {
    /// The processor time, in user and kernel mode.
    package let processor: Duration
    /// The resident memory, in bytes.
    package let resident: Int
    /// The number of open descriptors.
    package let descriptors: Int

    /// The current usage; nil if `/proc` is not mounted.
    package static var current: ProcessUsage? {
        var usage = rusage()
        guard getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0,
            let text = TextFile.read("/proc/self/statm"),
            let pages = text.split(at: " ").dropFirst().first.flatMap({ Int($0) }),
            let directory = opendir("/proc/self/fd")
        else { return nil }
        defer { closedir(directory) }
        // The entries `.` and `..` and the descriptor of the directory do not count.
        var count = -3
        while readdir(directory) != nil { count += 1 }
        return ProcessUsage(
            processor: duration(usage.ru_utime) + duration(usage.ru_stime),
            resident: pages * sysconf(CInt(_SC_PAGESIZE)),
            descriptors: count
        )
    }

    private static func duration(_ time: timeval) -> Duration {
        .seconds(Int64(time.tv_sec)) + .microseconds(Int64(time.tv_usec))
    }
}

/// Groups of the name service.
///
/// C counterpart: `getgrnam_r(3)`, `getgid(2)`.
package enum UserGroup {
    /// Returns the number of a group; nil if no group has the name. It queries the name service on the calling thread.
    package static func number(of name: String) -> UInt32? {
        var buffer = [CChar](repeating: 0, count: 16 << 10)
        while true {
            var entry = group()
            var found: UnsafeMutablePointer<group>?
            let error = getgrnam_r(name, &entry, &buffer, buffer.count, &found)
            if error == 0 { return found?.pointee.gr_gid }
            // The buffer is too small for a group with many members.
            guard error == ERANGE, buffer.count < 16 << 20 else { return nil }
            buffer = [CChar](repeating: 0, count: buffer.count * 4)
        }
    }
}

/// Users of the name service.
///
/// C counterpart: `getpwuid_r(3)`.
package enum UserName {
    /// Returns the name of a user; nil if no user has the number. It queries the name service on the calling thread.
    package static func of(_ number: UInt32) -> String? {
        var buffer = [CChar](repeating: 0, count: 16 << 10)
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        guard getpwuid_r(number, &entry, &buffer, buffer.count, &found) == 0, let name = found?.pointee.pw_name else {
            return nil
        }
        return String(cString: name)
    }
}
