import NetworkReachability

/// An attempt that was not made, or was ended before anything of it was sent, because it could not succeed. It is begun anew when
/// that makes sense.
public enum UnsentAttempt: RetryableError, Hashable {
    /// The kernel says that there is no path, or, where `verdict` says that there is one, that the path has changed since the attempt
    /// began.
    case noPath(RetryVerdict)
    /// There was no connection for so long.
    case notConnected(Duration)

    /// Never sent.
    public var failureStage: FailureStage? { .neverSent }
}

extension UnsentAttempt: CustomStringConvertible {
    /// One sentence.
    public var description: String {
        switch self {
        case .noPath(let verdict) where verdict.status.isReachable: "the path changed before anything was sent"
        case .noPath(let verdict): "nothing was sent: \(verdict)"
        case .notConnected(let time): "nothing was sent: no connection within \(time)"
        }
    }
}
