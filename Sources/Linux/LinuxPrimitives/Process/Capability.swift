/// What a process must be allowed to do, by the name `capabilities(7)` gives it.
package enum Capability: String, Hashable, Sendable {
    /// Entering a network namespace, `setns(2)`.
    case systemAdministration = "CAP_SYS_ADMIN"
    /// Looking at what another user's process has open or lives in, `ptrace(2)`.
    case processTracing = "CAP_SYS_PTRACE"
    /// Going through directories whose permissions forbid it, `path_resolution(7)`.
    case readSearch = "CAP_DAC_READ_SEARCH"
}
