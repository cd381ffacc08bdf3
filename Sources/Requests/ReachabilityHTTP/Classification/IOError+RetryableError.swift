import Glibc
public import NIOCore
public import ReachabilityRetry

/// What a failed system call says of the request, see `FailureStage.init(errorNumber:during:)`.
///
/// For an address, and not a name, swift-nio throws the error of `connect(2)` as it is: only its text tells it from that of a
/// connection in use. Text that is not known counts as a connection in use. A refusal is sometimes told as a connection that is reset: TCP
/// has this error number only for one that is not made yet (`tcp_reset` of the kernel).
extension IOError: RetryableError {
    /// By its error number; nil for "not retried".
    public var failureStage: FailureStage? { failure.failureStage }

    /// By its error number, see `SocketFailure`.
    public var isConnectionLost: Bool { failure.isConnectionLost }

    private var failure: SocketFailure {
        SocketFailure(errorNumber: errnoCode, during: isOfConnect ? .connecting : .exchanging)
    }

    private var isOfConnect: Bool {
        let text = description
        if errnoCode == ECONNREFUSED, text.hasPrefix("connection reset (error set)") { return true }
        return text.hasPrefix("connect(") || text.hasPrefix("finishing a non-blocking connect failed")
    }
}
