import Glibc
import LinuxSupport

/// The stage that a request reached before it failed. It determines whether the request may be sent again.
public enum FailureStage: Hashable, Sendable {
    /// No part of the request was sent, for example because the name was not resolved or the connection was not made.
    /// Any request may be sent again.
    case neverSent

    /// The request was sent, in part or completely, and no response arrived. The server may have acted on it.
    case mayHaveBeenProcessed

    /// The server responded with this status.
    ///
    /// `retryAfter` is the pause that the server requests (``RetryAfter``); nil if it requests none.
    case answered(status: Int, retryAfter: Duration? = nil)
}

extension FailureStage {
    /// A Boolean value that indicates whether the request was sent.
    public var wasSent: Bool { self != .neverSent }

    /// The status of the response; nil without a response.
    var status: Int? { if case .answered(let status, _) = self { status } else { nil } }

    /// The statuses by which a server reports that it has not acted: 408 (RFC 9110, 15.5.9), 425 (RFC 8470, 5.2), 429
    /// (RFC 6585, 4).
    private static let untouchedStatuses: Set<Int> = [408, 425, 429]

    /// Returns whether the server reports that it has not acted. Gateways also send 503 (RFC 9110, 15.6.4) if the
    /// server behind them failed in the middle of the work. Only a 503 with Retry-After requests that the request be
    /// sent again.
    private static func isUntouched(_ status: Int, _ retryAfter: Duration?) -> Bool {
        untouchedStatuses.contains(status) || status == 503 && retryAfter != nil
    }

    /// A Boolean value that indicates whether the server refuses the request itself, for example with 401, and not
    /// because of a timeout or load.
    var isRefusal: Bool {
        guard case .answered(let status, nil) = self else { return false }
        return (400..<500).contains(status) && !Self.untouchedStatuses.contains(status)
    }

    /// Returns whether the request may be sent again.
    ///
    /// - Parameter isRepeatable: True if executing the request twice has the same effect as once.
    func maySendAgain(isRepeatable: Bool) -> Bool {
        switch self {
        case .neverSent: true
        case .mayHaveBeenProcessed: isRepeatable
        case .answered(let status, let retryAfter): isRepeatable || Self.isUntouched(status, retryAfter)
        }
    }
}

extension FailureStage: CustomStringConvertible {
    /// A short text for logs.
    public var description: String {
        switch self {
        case .neverSent: "never sent"
        case .mayHaveBeenProcessed: "may have been processed"
        case .answered(let status, nil): "answered with \(status)"
        case .answered(let status, let wait?): "answered with \(status), retry after \(wait)"
        }
    }
}

/// An error with the stage that the request reached. The clients of this package convert their errors to it. A policy
/// may have its own classifier instead.
public protocol RetryableError: Error {
    /// The stage that the request reached; nil if the error must not be retried.
    var failureStage: FailureStage? { get }

    /// A Boolean value that indicates whether a connection in use was lost: reset, or closed before the response was
    /// complete. The default implementation returns false.
    var isConnectionLost: Bool { get }

    /// The reason why no connection was made, if waiting for the network does not help. The default implementation
    /// returns nil.
    var connectionFailure: ConnectionFailure? { get }
}

extension RetryableError {
    /// False.
    public var isConnectionLost: Bool { false }

    /// Nil.
    public var connectionFailure: ConnectionFailure? { nil }
}

/// A reason why no connection was made that also affects an immediate retry. A policy therefore limits the number of
/// such attempts.
public enum ConnectionFailure: Hashable, Sendable {
    /// The host refuses connections to the port (ECONNREFUSED). Limited by ``RetryPolicy/attemptsRefused``.
    case refused
    /// The name of the host was not resolved. Limited by ``RetryPolicy/attemptsUnresolved``.
    case nameNotResolved
}

extension FailureStage {
    /// Creates the stage that corresponds to an error number (`errno(3)`, `connect(2)`, `tcp(7)`).
    ///
    /// | Error | Resolving, connecting | Exchanging |
    /// |---|---|---|
    /// | ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN, ENONET | never sent | may have been processed |
    /// | ECONNREFUSED, ETIMEDOUT, ECONNRESET, ECONNABORTED, ENETRESET, EPIPE, ENOTCONN, EPROTO | never sent | may have been processed |
    /// | EADDRNOTAVAIL (no source address), EACCES, EPERM (forbidden by a rule), EINVAL (a blackhole route) | never sent | not retried |
    /// | ENOBUFS, ENOMEM, EMFILE, ENFILE, EAGAIN, EINTR | never sent | may have been processed |
    /// | all others | not retried | not retried |
    ///
    /// Returns nil for "not retried". A connection in use may also fail with ECONNREFUSED, if an ICMP error arrives for
    /// a server that is gone (`udp(7)`). The request was sent by then.
    public init?(errorNumber: Int32, during phase: ConnectionPhase) {
        if phase == .exchanging {
            guard Self.lost.contains(errorNumber) else { return nil }
            self = .mayHaveBeenProcessed
        } else {
            guard Self.lost.contains(errorNumber) || Self.unrouted.contains(errorNumber) else { return nil }
            self = .neverSent
        }
    }

    /// The errors of a connection that is lost, or cannot continue for now.
    private static let lost: Set<Int32> = [
        ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN, ENONET, ECONNREFUSED, ETIMEDOUT, ECONNRESET, ECONNABORTED,
        ENETRESET, EPIPE, ENOTCONN, EPROTO, ENOBUFS, ENOMEM, EMFILE, ENFILE, EAGAIN, EINTR,
    ]

    /// The errors of `connect(2)` that are caused by a route, a firewall rule or a missing address.
    private static let unrouted: Set<Int32> = [EADDRNOTAVAIL, EACCES, EPERM, EINVAL]
}

/// A failed system call on a connection, or a timeout of the client (ETIMEDOUT).
public struct SocketFailure: RetryableError, Hashable {
    /// The error number, `errno(3)`.
    public let errorNumber: Int32

    /// The phase of the connection when the call failed.
    public let phase: ConnectionPhase

    /// Creates the error of a failed system call.
    ///
    /// - Parameters:
    ///   - errorNumber: The error number, `errno(3)`.
    ///   - phase: The phase of the connection when the call failed.
    public init(errorNumber: Int32, during phase: ConnectionPhase) {
        self.errorNumber = errorNumber
        self.phase = phase
    }

    /// The stage of the error number (``FailureStage/init(errorNumber:during:)``).
    public var failureStage: FailureStage? { FailureStage(errorNumber: errorNumber, during: phase) }

    /// A Boolean value that indicates whether a connection in use failed with ECONNRESET, ECONNABORTED, ENETRESET,
    /// EPIPE or ENOTCONN.
    public var isConnectionLost: Bool { phase == .exchanging && Self.lost.contains(errorNumber) }

    /// `refused` if a new connection failed with ECONNREFUSED; otherwise nil.
    public var connectionFailure: ConnectionFailure? {
        phase == .connecting && errorNumber == ECONNREFUSED ? .refused : nil
    }

    private static let lost: Set<Int32> = [ECONNRESET, ECONNABORTED, ENETRESET, EPIPE, ENOTCONN]
}

extension SocketFailure: CustomStringConvertible {
    /// For example `error 111 while connecting`.
    public var description: String { "error \(errorNumber) while \(phase)" }
}

/// The phase of a connection when it failed.
public enum ConnectionPhase: Hashable, Sendable {
    /// The host name was being resolved.
    case resolving
    /// The connection was being established: `connect(2)`, a proxy, or the TLS handshake.
    case connecting
    /// The request was being sent, or its response was awaited or read.
    case exchanging
}

/// The error of a response whose status is a failure.
public struct StatusFailure: RetryableError, Hashable {
    /// The status, 100 to 599.
    public let status: Int

    /// The pause before a retry that the server requests; nil if it requests none.
    public let retryAfter: Duration?

    /// Creates the error of a response.
    ///
    /// - Parameters:
    ///   - status: The status of the response.
    ///   - retryAfter: The pause that its field Retry-After requests (``RetryAfter``).
    public init(status: Int, retryAfter: Duration? = nil) {
        self.status = status
        self.retryAfter = retryAfter
    }

    /// `answered` with this status.
    public var failureStage: FailureStage? { .answered(status: status, retryAfter: retryAfter) }
}

extension StatusFailure: CustomStringConvertible {
    /// For example `the server answered with 503`.
    public var description: String { "the server answered with \(status)" }
}

extension StatusFailure {
    /// Creates the error of a response with these header fields.
    ///
    /// - Parameters:
    ///   - status: The status of the response.
    ///   - retryAfter: The field Retry-After; nil without one.
    ///   - date: The field Date. If it is missing or invalid, a date in Retry-After is counted from the time of this
    ///     machine.
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
