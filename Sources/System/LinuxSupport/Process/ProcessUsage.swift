import Glibc

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
