import ReachabilityRetry

extension RequestError {
    /// Why the engine has no answer to give.
    init(_ error: RetryError) {
        switch error.lastError {
        case _ where error.ending == .cancelled: self = .explicitlyCancelled
        case let failure as InvalidRequest: self.init(failure)
        case let failure as AdapterFailure:
            self =
                switch failure.cause {
                case let cause as InvalidRequest: RequestError(cause)
                case let cause as RequestError: cause
                default: .requestAdaptationFailed(error: failure.cause)
                }
        case let failure as ValidationFailure:
            let reason = ResponseValidationFailureReason.customValidationFailed(error: failure.cause)
            self = failure.cause as? RequestError ?? .responseValidationFailed(reason: reason)
        case let failure as RequestError: self = failure
        default: self = .sessionTaskFailed(error: error)
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
