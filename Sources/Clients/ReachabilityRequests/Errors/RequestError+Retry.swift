import ReachabilityHTTP
public import ReachabilityRetry

extension RequestError {
    /// The result of a request that ended without an answer.
    init(_ error: RetryError) {
        guard error.ending != .cancelled else {
            self = .explicitlyCancelled
            return
        }
        self = error.lastError.flatMap { RequestError(ownFailure: $0) } ?? .sessionTaskFailed(error: error)
    }

    /// The failure of one attempt, as retriers get it.
    init(attemptError error: any Error) {
        self =
            switch error {
            case let failure as StatusFailure:
                .responseValidationFailed(reason: .unacceptableStatusCode(code: failure.status))
            case AttemptError.unsent(let cause): .sessionTaskFailed(error: cause)
            default: RequestError(ownFailure: error) ?? .sessionTaskFailed(error: error)
            }
    }

    /// A failure that has a case of its own; nil for one of the network or the client.
    private init?(ownFailure failure: any Error) {
        switch failure {
        case let failure as InvalidRequest: self.init(failure)
        case AttemptError.adapterFailed(let cause):
            self =
                switch cause {
                case let cause as InvalidRequest: RequestError(cause)
                case let cause as RequestError: cause
                default: .requestAdaptationFailed(error: cause)
                }
        case AttemptError.refused(_, let cause):
            let reason = ResponseValidationFailureReason.customValidationFailed(error: cause)
            self = cause as? RequestError ?? .responseValidationFailed(reason: reason)
        case let failure as RequestError: self = failure
        default: return nil
        }
    }

    init(_ failure: InvalidRequest) {
        self =
            switch failure {
            case .method(let text): .invalidMethod(text)
            case .header(let name): .invalidHeader(name: name)
            }
    }
}

/// What retriers ask of an error: of ``RequestError/sessionTaskFailed(error:)`` the error below it decides.
extension RequestError: RetryableError {
    /// The stage of the attempt that failed last; nil if the error is not one of the network.
    public var failureStage: FailureStage? { networkError?.failureStage }

    /// Whether a connection in use was lost.
    public var isConnectionLost: Bool { networkError?.isConnectionLost ?? false }

    /// The reason why no connection was made.
    public var connectionFailure: ConnectionFailure? { networkError?.connectionFailure }

    private var networkError: (any RetryableError)? {
        guard case .sessionTaskFailed(let error) = self else { return nil }
        return ((error as? RetryError)?.lastError ?? error) as? any RetryableError
    }
}
