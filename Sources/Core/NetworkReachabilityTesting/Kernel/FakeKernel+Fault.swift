import LinuxPrimitives

extension FakeKernel {
    /// Why a netlink socket cannot be used.
    public enum Fault: Hashable, Sendable, CaseIterable {
        /// EPERM: a seccomp filter, as in some containers.
        case notPermitted
        /// EACCES: a security module.
        case accessDenied
        /// ENOBUFS: no memory.
        case noBufferSpace
        /// EAGAIN: the kernel did not answer in time.
        case timedOut

        var cause: SystemError {
            switch self {
            case .notPermitted: .notPermitted
            case .accessDenied: .accessDenied
            case .noBufferSpace: .noBufferSpace
            case .timedOut: .tryAgain
            }
        }
    }
}
