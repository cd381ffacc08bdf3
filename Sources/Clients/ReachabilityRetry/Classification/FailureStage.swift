import Glibc
import LinuxSupport

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

extension FailureStage {
    /// What an error number (`errno(3)`, `connect(2)`, `tcp(7)`) says of a request.
    ///
    /// | Error | Resolving, connecting | Exchanging |
    /// |---|---|---|
    /// | ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN, ENONET | never sent | may have been processed |
    /// | ECONNREFUSED, ETIMEDOUT, ECONNRESET, ECONNABORTED, ENETRESET, EPIPE, ENOTCONN, EPROTO | never sent | may have been processed |
    /// | EADDRNOTAVAIL (no source address), EACCES, EPERM (a rule forbids), EINVAL (a blackhole) | never sent | not retried |
    /// | ENOBUFS, ENOMEM, EMFILE, ENFILE, EAGAIN, EINTR | never sent | may have been processed |
    /// | all others | not retried | not retried |
    ///
    /// Nil stands for "not retried". A connection in use can be told that it is refused, too, by what answers for a server that has gone
    /// (`udp(7)`): by then the request has left.
    public init?(errorNumber: Int32, during phase: ConnectionPhase) {
        if phase == .exchanging {
            guard Self.lost.contains(errorNumber) else { return nil }
            self = .mayHaveBeenProcessed
        } else {
            guard Self.lost.contains(errorNumber) || Self.unrouted.contains(errorNumber) else { return nil }
            self = .neverSent
        }
    }

    /// The connection is lost, or cannot go on for now.
    private static let lost: Set<Int32> = [
        ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN, ENONET, ECONNREFUSED, ETIMEDOUT, ECONNRESET, ECONNABORTED,
        ENETRESET, EPIPE, ENOTCONN, EPROTO, ENOBUFS, ENOMEM, EMFILE, ENFILE, EAGAIN, EINTR,
    ]

    /// What `connect(2)` says where a route, a rule or a missing address stands in the way.
    private static let unrouted: Set<Int32> = [EADDRNOTAVAIL, EACCES, EPERM, EINVAL]
}

/// A failed system call on a connection, or a time limit of a client's own (ETIMEDOUT).
public struct SocketFailure: RetryableError, Hashable {
    /// The error number, `errno(3)`.
    public let errorNumber: Int32

    /// What the connection was doing.
    public let phase: ConnectionPhase

    /// - Parameters:
    ///   - errorNumber: The error number, `errno(3)`.
    ///   - phase: What the connection was doing.
    public init(errorNumber: Int32, during phase: ConnectionPhase) {
        self.errorNumber = errorNumber
        self.phase = phase
    }

    /// What the error number says, see ``FailureStage/init(errorNumber:during:)``.
    public var failureStage: FailureStage? { FailureStage(errorNumber: errorNumber, during: phase) }

    /// Whether it was a connection in use, and ECONNRESET, ECONNABORTED, ENETRESET, EPIPE or ENOTCONN.
    public var isConnectionLost: Bool { phase == .exchanging && Self.lost.contains(errorNumber) }

    /// ECONNREFUSED of a connection that is being made.
    public var connectionFailure: ConnectionFailure? {
        phase == .connecting && errorNumber == ECONNREFUSED ? .refused : nil
    }

    private static let lost: Set<Int32> = [ECONNRESET, ECONNABORTED, ENETRESET, EPIPE, ENOTCONN]
}

extension SocketFailure: CustomStringConvertible {
    /// For example `error 111 while connecting`.
    public var description: String { "error \(errorNumber) while \(phase)" }
}

/// What a connection was doing when it failed.
public enum ConnectionPhase: Hashable, Sendable {
    /// The host's name was being resolved.
    case resolving
    /// The connection was being made: `connect(2)`, a proxy's, or the TLS handshake.
    case connecting
    /// The request was being sent, or its answer waited for or read.
    case exchanging
}

/// An answer that is a failure.
public struct StatusFailure: RetryableError, Hashable {
    /// The status, 100 to 599.
    public let status: Int

    /// How long the server asks to wait before a retry; nil where it does not ask.
    public let retryAfter: Duration?

    /// - Parameters:
    ///   - status: The status of the answer.
    ///   - retryAfter: What its Retry-After asks for, see ``RetryAfter``.
    public init(status: Int, retryAfter: Duration? = nil) {
        self.status = status
        self.retryAfter = retryAfter
    }

    /// Answered, with this status.
    public var failureStage: FailureStage? { .answered(status: status, retryAfter: retryAfter) }
}

extension StatusFailure: CustomStringConvertible {
    /// For example `the server answered with 503`.
    public var description: String { "the server answered with \(status)" }
}

extension StatusFailure {
    /// An answer with these header fields.
    ///
    /// - Parameters:
    ///   - status: The status of the answer.
    ///   - retryAfter: The field Retry-After, if there is one.
    ///   - date: The field Date; where it is missing or wrong, dates are counted from this machine's time.
    package init(status: Int, retryAfter: String?, date: String?) {
        guard let retryAfter else {
            self.init(status: status)
            return
        }
        let here = SystemClock.real.components.seconds
        let now = date.flatMap { HTTPDate.secondsSince1970($0, now: here) } ?? here
        self.init(status: status, retryAfter: RetryAfter.wait(retryAfter, now: now))
    }
}
