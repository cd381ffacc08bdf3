public import AsyncHTTPClient
public import ReachabilityRetry

/// What an error of async-http-client's own says of the request.
///
/// | Error | Stage |
/// |---|---|
/// | connectTimeout, getConnectionFromPoolTimeout, tlsHandshakeTimeout, socksHandshakeTimeout, httpProxyHandshakeTimeout, invalidProxyResponse | never sent |
/// | readTimeout, writeTimeout, deadlineExceeded, remoteConnectionClosed, uncleanShutdown, requestStreamCancelled | may have been processed |
/// | cancelled, alreadyShutdown, what is wrong with the URL, the header, the body or the configuration, too many redirects, a proxy or server that wants something else | not retried |
///
/// `deadlineExceeded` can also mean that there never was a connection: where a delegate tells so, it is an ``UnsentRequest``.
extension HTTPClientError: RetryableError {
    /// See the table; nil for "not retried".
    public var failureStage: FailureStage? {
        switch self {
        case .connectTimeout, .getConnectionFromPoolTimeout, .tlsHandshakeTimeout, .socksHandshakeTimeout,
            .httpProxyHandshakeTimeout, .invalidProxyResponse:
            .neverSent
        case .readTimeout, .writeTimeout, .deadlineExceeded, .remoteConnectionClosed, .uncleanShutdown,
            .requestStreamCancelled:
            .mayHaveBeenProcessed
        default:
            nil
        }
    }

    /// remoteConnectionClosed, uncleanShutdown
    public var isConnectionLost: Bool { self == .remoteConnectionClosed || self == .uncleanShutdown }
}

/// An attempt that failed before a byte of it was sent, although its error alone does not tell.
public struct UnsentRequest: RetryableError, CustomStringConvertible {
    /// What the attempt failed with.
    public let cause: any Error

    /// Never sent.
    public var failureStage: FailureStage? { .neverSent }

    /// What its cause says.
    public var connectionFailure: ConnectionFailure? { (cause as? any RetryableError)?.connectionFailure }

    /// One sentence.
    public var description: String { "failed before it was sent: \(cause)" }
}
