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

/// What a process must be allowed to do, by the name `capabilities(7)` gives it.
package enum Capability: String, Hashable, Sendable {
    /// Entering a network namespace, `setns(2)`.
    case systemAdministration = "CAP_SYS_ADMIN"
    /// Reading what another user's process has open or lives in, `ptrace(2)`.
    case processTracing = "CAP_SYS_PTRACE"
    /// Going through directories whose permissions forbid it, `path_resolution(7)`.
    case readSearch = "CAP_DAC_READ_SEARCH"
}
