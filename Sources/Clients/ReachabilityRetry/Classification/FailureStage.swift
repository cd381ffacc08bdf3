/// How far a request got before it failed: what decides whether it may be sent again.
public enum FailureStage: Hashable, Sendable {
    /// Nothing of it has left: the name was not resolved, the connection was not made. Anything may be sent again.
    case neverSent

    /// It has left, in part or as a whole, and no answer came: the server may have acted on it.
    case mayHaveBeenProcessed

    /// The server answered with this status.
    ///
    /// `retryAfter` is how long the server asks to wait, see ``RetryAfter``; nil where it does not ask.
    case answered(status: Int, retryAfter: Duration? = nil)
}

extension FailureStage {
    /// Whether it has left, so that it counts as sent.
    public var wasSent: Bool { self != .neverSent }

    /// The status of the answer; nil where there is none.
    var status: Int? { if case .answered(let status, _) = self { status } else { nil } }

    /// The statuses by which the server says that it has not acted: 408 (RFC 9110, 15.5.9), 425 (RFC 8470, 5.2), 429 (RFC
    /// 6585, 4).
    private static let untouchedStatuses: Set<Int> = [408, 425, 429]

    /// Whether the server says that it has not acted. A 503 (RFC 9110, 15.6.4) is also what gateways answer whose server broke off in
    /// the middle of the work: only with Retry-After does it ask for the request to be sent again.
    private static func isUntouched(_ status: Int, _ retryAfter: Duration?) -> Bool {
        untouchedStatuses.contains(status) || status == 503 && retryAfter != nil
    }

    /// Whether the server refuses the request as it is, a 401 for example, and not for want of time or strength.
    var isRefusal: Bool {
        guard case .answered(let status, nil) = self else { return false }
        return (400..<500).contains(status) && !Self.untouchedStatuses.contains(status)
    }

    /// Whether the request may be sent again.
    ///
    /// - Parameter isRepeatable: Whether doing it twice means the same as once.
    func maySendAgain(isRepeatable: Bool) -> Bool {
        switch self {
        case .neverSent: true
        case .mayHaveBeenProcessed: isRepeatable
        case .answered(let status, let retryAfter): isRepeatable || Self.isUntouched(status, retryAfter)
        }
    }
}

extension FailureStage: CustomStringConvertible {
    /// A few words for logs.
    public var description: String {
        switch self {
        case .neverSent: "never sent"
        case .mayHaveBeenProcessed: "may have been processed"
        case .answered(let status, nil): "answered with \(status)"
        case .answered(let status, let wait?): "answered with \(status), retry after \(wait)"
        }
    }
}

/// An error that tells how far the request got. What clients throw is given this by their adapters; a policy may have a
/// classifier of its own instead.
public protocol RetryableError: Error {
    /// How far the request got; nil where a retry would not help.
    var failureStage: FailureStage? { get }

    /// Whether a connection in use was lost: reset, or closed before the answer was whole. Unless implemented, false.
    var isConnectionLost: Bool { get }

    /// The reason why no connection was made, if waiting for the network does not help against it. Unless implemented, nil.
    var connectionFailure: ConnectionFailure? { get }
}

extension RetryableError {
    /// Not known to be.
    public var isConnectionLost: Bool { false }

    /// Not known.
    public var connectionFailure: ConnectionFailure? { nil }
}

/// A reason why no connection was made that repeats at once, so that a policy limits its attempts.
public enum ConnectionFailure: Hashable, Sendable {
    /// The host refuses connections to the port (ECONNREFUSED). Limited by ``RetryPolicy/attemptsRefused``.
    case refused
    /// The name of the host was not resolved. Limited by ``RetryPolicy/attemptsUnresolved``.
    case nameNotResolved
}
