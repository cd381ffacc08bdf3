import AsyncHTTPClient
import ReachabilityHTTP
public import ReachabilityRetry

/// The failure of the network below ``AFError/sessionTaskFailed(error:)``, with a code of Foundation's structure of this name. The codes
/// are coarse. The ``cause`` has all that is known.
///
/// ```swift
/// if let error = response.error?.underlyingError as? URLError, error.code == .timedOut { showRetryButton() }
/// ```
public struct URLError: Error, Sendable {
    /// A kind of failure, with Foundation's number.
    public enum Code: Int, Hashable, Sendable {
        /// An error that no other code describes.
        case unknown = -1
        /// The attempt was cancelled.
        case cancelled = -999
        /// The URL is not valid.
        case badURL = -1000
        /// No connection, no answer or no more bytes came in time.
        case timedOut = -1001
        /// The URL is not one of `http` or `https` with a host. The cause is an ``AFError/invalidURL(url:)``.
        case unsupportedURL = -1002
        /// The name of the host has no address, or could not be looked up.
        case cannotFindHost = -1003
        /// The connection was refused, or could not be made.
        case cannotConnectToHost = -1004
        /// The connection was lost after the request was sent.
        case networkConnectionLost = -1005
        /// The name could not be looked up. Here it is ``cannotFindHost``.
        case dnsLookupFailed = -1006
        /// There are too many redirects, or they form a circle.
        case httpTooManyRedirects = -1007
        /// This machine has no path to the host.
        case notConnectedToInternet = -1009
        /// The answer is not HTTP.
        case badServerResponse = -1011
        /// The answer cannot be read. Here it is ``badServerResponse``.
        case cannotParseResponse = -1017
        /// A call on the same modem. It does not occur here.
        case callIsActive = -1019
        /// No data outside of the home network. It does not occur here.
        case internationalRoamingOff = -1018
        /// The modem does not permit data. It does not occur here.
        case dataNotAllowed = -1020
        /// Only a cached answer is permitted. Here it is ``NotCached``.
        case cannotLoadFromNetwork = -2000
        /// The body is too long. Here it is a ``ResponseTooLong``.
        case dataLengthExceedsMaximum = -1103
        /// The TLS handshake was refused.
        case secureConnectionFailed = -1200
        /// The certificate has expired. Here it is ``serverCertificateUntrusted``.
        case serverCertificateHasBadDate = -1201
        /// The certificate of the server cannot be verified.
        case serverCertificateUntrusted = -1202
        /// The root of the certificate is not known. Here it is ``serverCertificateUntrusted``.
        case serverCertificateHasUnknownRoot = -1203
        /// The certificate is not valid yet. Here it is ``serverCertificateUntrusted``.
        case serverCertificateNotYetValid = -1204
    }

    /// The kind of failure.
    public let code: Code
    /// The error itself: a `RetryError` with every attempt, or the error of one attempt. Nil if the initializer had only a code.
    public let cause: (any Error)?

    /// The number of the code.
    public var errorCode: Int { code.rawValue }

    /// Creates an error without a cause.
    public init(_ code: Code) { (self.code, cause) = (code, nil) }

    init(_ code: Code, cause: any Error) { (self.code, self.cause) = (code, cause) }

    init(cause: any Error) { self.init(Code(cause), cause: cause) }

    /// The error of the last attempt.
    var failure: (any Error)? { (cause as? RetryError).map { $0.lastError ?? $0 } ?? cause }
}

extension URLError: RetryableError {
    /// The stage that the request reached; nil if it is not known.
    public var failureStage: FailureStage? { (failure as? any RetryableError)?.failureStage }

    /// A Boolean value that indicates whether a connection in use was lost.
    public var isConnectionLost: Bool { (failure as? any RetryableError)?.isConnectionLost ?? false }

    /// The reason why no connection was made.
    public var connectionFailure: ConnectionFailure? { (failure as? any RetryableError)?.connectionFailure }
}

extension URLError.Code {
    /// Creates the code of an error. Errors that are retried have one of the codes that `RetryPolicy` of ReachabilityAlamofire retries by
    /// default.
    package init(_ error: any Error) {
        let failure = error as? any RetryableError
        self =
            switch error {
            case let error as URLError: error.code
            case AFError.sessionTaskFailed(let cause): Self(cause)
            case let error as RetryError where error.ending == .deadlineExpired && error.lastError is CancellationError:
                .timedOut
            case let error as RetryError: error.lastError.map { Self($0) } ?? .unknown
            case AttemptError.unsent(let cause), AttemptError.sent(let cause): Self(cause)
            case AttemptError.bodyNotReplayable(let cause): Self(cause)
            case AttemptError.noPath: .notConnectedToInternet
            case AttemptError.notConnected: .timedOut
            case is CancellationError: .cancelled
            case let error as HTTPClientError where error == .cancelled: .cancelled
            case is RedirectFailure: .httpTooManyRedirects
            case _ where failure?.connectionFailure == .nameNotResolved: .cannotFindHost
            case _ where ErrorDescription.isTimeout(error): .timedOut
            case _ where ErrorDescription.isOfCertificate(error): .serverCertificateUntrusted
            case _ where failure?.failureStage == .neverSent: .cannotConnectToHost
            case _ where failure?.isConnectionLost == true: .networkConnectionLost
            case _ where failure?.failureStage == .mayHaveBeenProcessed: .badServerResponse
            default: ErrorDescription.isOfTLS(error) ? .secureConnectionFailed : .unknown
            }
    }
}
