public import NetworkReachability

/// What a monitor says of a target at one moment.
public struct RetryVerdict: Hashable, Sendable {
    /// Whether packets would get through.
    public var status: NetworkReachabilityStatus

    /// Why not, or why nothing is known.
    public var reason: NetworkPath.UnsatisfiedReason?

    /// Grows with each change of the path; 0 while nothing was said.
    public var generation: UInt64

    /// Nothing is known yet.
    public static let unknown = RetryVerdict(status: .unknown)

    /// Whether an attempt would be in vain until the network changes. A name that is not resolved is not enough for that: it may not
    /// exist at all, and then no network would end the wait.
    var isOffline: Bool { status == .notReachable && !lacksAddress }

    /// Whether the name is not resolved.
    var lacksAddress: Bool { reason == .nameNotResolved }

    /// A verdict.
    public init(
        status: NetworkReachabilityStatus,
        reason: NetworkPath.UnsatisfiedReason? = nil,
        generation: UInt64 = 0
    ) {
        self.status = status
        self.reason = reason
        self.generation = generation
    }

    /// The verdict a path stands for.
    public init(_ path: NetworkPath) {
        self.init(status: path.status, reason: path.reason, generation: path.generation)
    }
}

extension RetryVerdict: CustomStringConvertible {
    /// For example `not reachable, no carrier`.
    public var description: String { reason.map { "\(status), \($0)" } ?? status.description }
}
