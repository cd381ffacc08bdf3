import Glibc

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
