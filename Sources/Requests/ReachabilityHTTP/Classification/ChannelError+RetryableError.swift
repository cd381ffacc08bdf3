public import NIOCore
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
