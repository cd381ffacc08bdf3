import Glibc

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
