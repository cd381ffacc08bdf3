import AsyncHTTPClient
import NIOSSL
import ReachabilityHTTP
import ReachabilityRetry

extension OutboxResult {
    /// What a request that had no answer came to. Its words go into the file and into logs, so none of an adapter's are taken.
    init(_ error: RetryError) {
        guard let cause = error.lastError else {
            self = .held(cause: "nothing was sent: \(error.ending.rawValue)")
            return
        }
        self =
            switch cause {
            // The engine has not asked the client: there is no path, or the host has asked to be left alone.
            case AttemptError.noPath, AttemptError.heldBack: .held(cause: FailureWords.text(cause))
            // The stored request was checked before.
            case is InvalidRequest: .held(cause: "the adapter has made a request that cannot be sent")
            case AttemptError.adapterFailed(let cause): .held(cause: "the adapter failed: \(type(of: cause))")
            case let failure as HTTPClientError where failure.isProxyRefusal: .held(cause: FailureWords.text(failure))
            case let failure as HTTPClientError where failure.isOfRequest: .rejected(reason: FailureWords.text(failure))
            // It was not the server, so nothing was sent. A portal that answers for all names looks like that.
            case let failure as NIOSSLError where failure.failureStage == nil: .held(cause: FailureWords.text(failure))
            case let failure as BoringSSLError where failure.isOfSettings: .held(cause: FailureWords.text(failure))
            case let failure as NIOSSLExtraError: .held(cause: FailureWords.text(failure))
            case _ where error.ending == .deadlineExpired: .retry(after: nil, cause: "no answer in time")
            default: .retry(after: nil, cause: FailureWords.text(cause))
            }
    }
}

extension HTTPClientError {
    /// Whether a proxy has answered in the place of the server, which knows nothing of the request.
    fileprivate var isProxyRefusal: Bool { self == .proxyAuthenticationRequired || self == .invalidProxyResponse }

    /// Whether the client sends no such request: it will not get better.
    fileprivate var isOfRequest: Bool {
        switch self {
        case .invalidURL, .emptyHost, .emptyScheme, .traceRequestWithBody: true
        default: false
        }
    }
}
