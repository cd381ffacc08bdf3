import Glibc

/// When this process was made.
///
/// C counterpart: `proc_pid_stat(5)`, `starttime`.
package enum ProcessStart {
    /// On CLOCK_BOOTTIME, cut off to the hundredth of a second that the kernel counts in; nil where `/proc` is not there.
    package static var boot: Duration? {
        guard let text = TextFile.read("/proc/self/stat") else { return nil }
        return boot(stat: text, ticks: sysconf(CInt(_SC_CLK_TCK)))
    }

    /// - Parameters:
    ///   - stat: The text of `/proc/self/stat`. The second field, the name, stands in parentheses and may contain anything.
    ///   - ticks: How many there are in a second.
    static func boot(stat: String, ticks: Int) -> Duration? {
        guard ticks > 0, let end = stat.lastIndex(of: ")") else { return nil }
        let fields = stat[stat.index(after: end)...].split(whereSeparator: \.isWhitespace)
        // The state is the third field, the start the 22nd.
        guard fields.count > 19, let start = Int64(fields[19]), start >= 0 else { return nil }
        return .nanoseconds(start * (1_000_000_000 / Int64(ticks)))
    }
}
