import Glibc
public import NIOCore
public import NIOHTTP1
public import NIOPosix
public import ReachabilityRetry

/// What a channel says of the request that it carried, or was to carry.
///
/// | Error | Stage |
/// |---|---|
/// | connectTimeout, connectPending | never sent |
/// | ioOnClosedChannel, alreadyClosed, outputClosed, inputClosed, eof | may have been processed: the connection went, and whether before or after does not show |
/// | all others | not retried |
extension ChannelError: RetryableError {
    /// See the table; nil for "not retried".
    public var failureStage: FailureStage? {
        switch self {
        case .connectTimeout, .connectPending: .neverSent
        case .ioOnClosedChannel, .alreadyClosed, .outputClosed, .inputClosed, .eof: .mayHaveBeenProcessed
        default: nil
        }
    }

    /// Whether the connection went: those that may have been processed.
    public var isConnectionLost: Bool { failureStage == .mayHaveBeenProcessed }
}

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

    /// ECONNREFUSED of `connect(2)`.
    public var connectionFailure: ConnectionFailure? { failure.connectionFailure }

    private var failure: SocketFailure {
        SocketFailure(errorNumber: errnoCode, during: isOfConnect ? .connecting : .exchanging)
    }

    private var isOfConnect: Bool {
        let text = description
        if errnoCode == ECONNREFUSED, text.hasPrefix("connection reset (error set)") { return true }
        return text.hasPrefix("connect(") || text.hasPrefix("finishing a non-blocking connect failed")
    }
}

/// No address of a name could be connected to, or the name could not be resolved.
extension NIOConnectionError: RetryableError {
    /// Never sent.
    public var failureStage: FailureStage? { .neverSent }

    /// Refused if one address refused and no other failed in another way; not resolved if there is no address.
    public var connectionFailure: ConnectionFailure? {
        guard !connectionErrors.isEmpty else { return .nameNotResolved }
        let isRefused = connectionErrors.allSatisfy { failure in
            (failure.error as? any RetryableError)?.connectionFailure == .refused
        }
        return isRefused ? .refused : nil
    }
}

/// The name could not be resolved. The error does not tell a name that does not exist from a name service that cannot be
/// reached, and on a machine that is offline both look alike: both are retried.
extension SocketAddressError.UnknownHost: RetryableError {
    /// Never sent.
    public var failureStage: FailureStage? { .neverSent }

    /// Not resolved.
    public var connectionFailure: ConnectionFailure? { .nameNotResolved }
}

/// What came back was no answer of HTTP/1, or ended in the middle of one.
extension HTTPParserError: RetryableError {
    /// May have been processed: the server has written something.
    public var failureStage: FailureStage? { .mayHaveBeenProcessed }
}
