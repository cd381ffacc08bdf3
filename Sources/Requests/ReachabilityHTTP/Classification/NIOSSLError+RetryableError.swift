public import NIOSSL
public import ReachabilityRetry

/// What TLS says of the request.
///
/// | Error | Stage |
/// |---|---|
/// | a handshake that was cut off: end of file, reset | never sent |
/// | a handshake that was refused: a certificate that does not verify, no common version | not retried |
/// | uncleanShutdown, and what comes of a connection that is being closed | may have been processed |
/// | all others | not retried |
extension NIOSSLError: RetryableError {
    /// See the table; nil for "not retried".
    public var failureStage: FailureStage? {
        switch self {
        case .handshakeFailed(let cause): cause.isCutOff ? .neverSent : nil
        case .uncleanShutdown, .writeDuringTLSShutdown, .shutdownFailed, .readInInvalidTLSState: .mayHaveBeenProcessed
        default: nil
        }
    }
}

extension BoringSSLError {
    /// Whether the peer or the network ended the handshake without a word of TLS.
    fileprivate var isCutOff: Bool {
        switch self {
        case .zeroReturn, .syscallError: true
        case .sslError(let stack):
            stack.contains(.eofDuringHandshake) || stack.contains(.eofDuringAdditionalCertficiateChainValidation)
        default: false
        }
    }
}
