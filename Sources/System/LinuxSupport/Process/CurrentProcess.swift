import CLinux
import Glibc

/// The variables this process was started with.
///
/// C counterpart: `getenv(3)`.
package enum EnvironmentVariable {
    /// Nil when it is not set; an empty one counts as not set.
    package static func value(of name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}

/// The memory of the process.
package enum Memory {
    /// Lets all threads share one pool of memory from now on; what each keeps in a pool of its own it keeps for good. For a
    /// program whose threads work one after the other: call it first.
    ///
    /// C counterpart: `mallopt(3)`, `M_ARENA_MAX`.
    package static func shareOnePool() {
        mallopt(M_ARENA_MAX, 1)
    }
}

/// A capability of a process, by its name in `capabilities(7)`.
package enum Capability: String, Hashable, Sendable {
    /// Entering a network namespace, `setns(2)`.
    case systemAdministration = "CAP_SYS_ADMIN"
    /// Reading what another user's process has open or lives in, `ptrace(2)`.
    case processTracing = "CAP_SYS_PTRACE"
    /// Going through directories whose permissions forbid it, `path_resolution(7)`.
    case readSearch = "CAP_DAC_READ_SEARCH"
}

/// A handle of a process, which stays valid if another process gets the same number.
///
/// Thread-safe. C counterpart: `pidfd_open(2)`.
package final class ProcessHandle: Sendable {
    /// The process's number in the caller's PID namespace.
    package let number: Int32
    private let file: Descriptor

    /// - Throws: `.noSuchProcess` also for what is no process's number, or a thread's.
    package init(_ number: Int32) throws(SystemError) {
        let file = clinux_pidfd_open(number)
        guard file >= 0 else {
            let error = SystemError.current
            throw [.invalidArgument, .noEntry].contains(error) ? .noSuchProcess : error
        }
        self.file = Descriptor(owning: file)
        self.number = number
    }

    /// Readable from the end of the process on, for ever.
    package var descriptor: CInt { file.number }

    /// True if the last thread of the process has ended, also if its parent has not waited for it.
    package var hasEnded: Bool {
        var poll = pollfd(fd: file.number, events: Int16(POLLIN), revents: 0)
        return Glibc.poll(&poll, 1, 0) > 0
    }
}

/// When a process was made.
///
/// C counterpart: `proc_pid_stat(5)`, `starttime`.
package enum ProcessStart {
    /// When this process was, on CLOCK_BOOTTIME, cut off to the hundredth of a second that the kernel counts in; nil where `/proc` is
    /// not there.
    package static var boot: Duration? { boot(stat: "/proc/self/stat") }

    /// The same of any process.
    ///
    /// - Parameter file: Its `/proc/PID/stat`.
    package static func boot(stat file: String) -> Duration? {
        guard let text = TextFile.read(file) else { return nil }
        return boot(text: text, ticks: sysconf(CInt(_SC_CLK_TCK)))
    }

    /// - Parameters:
    ///   - text: That of the file. The second field, the name, stands in parentheses and may contain anything.
    ///   - ticks: How many there are in a second.
    static func boot(text: String, ticks: Int) -> Duration? {
        guard ticks > 0, let end = text.unicodeScalars.lastIndex(of: ")") else { return nil }
        let fields = text[text.unicodeScalars.index(after: end)...].words
        // The state is the third field, the start the 22nd.
        guard fields.count > 19, let start = Int64(fields[19]), start >= 0 else { return nil }
        return .nanoseconds(start * (1_000_000_000 / Int64(ticks)))
    }
}

/// What this process uses of the machine.
///
/// C counterpart: `getrusage(2)`, `proc_pid_statm(5)`.
package struct ProcessUsage: Sendable {
    /// Time on processors, for itself and in the kernel.
    package let processor: Duration
    /// Memory that is resident, in bytes.
    package let resident: Int
    package let descriptors: Int

    /// Nil where `/proc` is not there.
    package static var current: ProcessUsage? {
        var usage = rusage()
        guard getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0,
            let text = TextFile.read("/proc/self/statm"),
            let pages = text.split(at: " ").dropFirst().first.flatMap({ Int($0) }),
            let directory = opendir("/proc/self/fd")
        else { return nil }
        defer { closedir(directory) }
        // Neither itself and its parent nor the descriptor that reads it.
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

    /// Lets this process have as many descriptors as it may give itself, and says how many that is.
    ///
    /// C counterpart: `setrlimit(2)`, RLIMIT_NOFILE.
    @discardableResult
    package static func raiseDescriptorLimit() -> Int {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &limit) == 0 else { return 1024 }
        limit.rlim_cur = min(limit.rlim_max, 65_536)
        setrlimit(resource, &limit)
        return Int(clamping: limit.rlim_cur)
    }
}

/// Groups of users, by the name service.
///
/// C counterpart: `getgrnam_r(3)`, `getgid(2)`.
package enum UserGroup {
    /// The number of a group; nil if no group has the name. Queries the name service on the calling thread.
    package static func number(of name: String) -> UInt32? {
        var buffer = [CChar](repeating: 0, count: 16 << 10)
        while true {
            var entry = group()
            var found: UnsafeMutablePointer<group>?
            let error = getgrnam_r(name, &entry, &buffer, buffer.count, &found)
            if error == 0 { return found?.pointee.gr_gid }
            // A group of very many members.
            guard error == ERANGE, buffer.count < 16 << 20 else { return nil }
            buffer = [CChar](repeating: 0, count: buffer.count * 4)
        }
    }
}

/// Users, by the name service.
///
/// C counterpart: `getpwuid_r(3)`.
package enum UserName {
    /// The name of a user; nil if no user has the number. Queries the name service on the calling thread.
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
