public import NIOHTTP2
public import ReachabilityRetry

/// A stream of HTTP/2 was reset, or its connection closed (RFC 9113, sections 5.4.2 and 6.8).
///
/// A stream beyond the last one of a GOAWAY has not been looked at either, but swift-nio closes it with CANCEL, which a server may
/// send too: it counts as one that may have been processed.
///
/// | Error code | Stage |
/// |---|---|
/// | REFUSED_STREAM (RFC 9113, section 8.7) | never sent: the server has not looked at it |
/// | HTTP_1_1_REQUIRED, INADEQUATE_SECURITY | not retried |
/// | all others | may have been processed |
extension NIOHTTP2Errors.StreamClosed: RetryableError {
    /// See the table; nil for "not retried".
    public var failureStage: FailureStage? {
        switch errorCode {
        case .refusedStream: .neverSent
        case .http11Required, .inadequateSecurity: nil
        default: .mayHaveBeenProcessed
        }
    }
}

/// The server was ending the connection (GOAWAY) when the stream was to begin.
extension NIOHTTP2Errors.CreatedStreamAfterGoaway: RetryableError {
    /// Never sent.
    public var failureStage: FailureStage? { .neverSent }
}

/// The connection has had as many streams as there are numbers.
extension NIOHTTP2Errors.NoStreamIDAvailable: RetryableError {
    /// Never sent.
    public var failureStage: FailureStage? { .neverSent }
}

/// The connection was closed.
extension NIOHTTP2Errors.IOOnClosedConnection: RetryableError {
    /// May have been processed.
    public var failureStage: FailureStage? { .mayHaveBeenProcessed }
    /// It was.
    public var isConnectionLost: Bool { true }
}
