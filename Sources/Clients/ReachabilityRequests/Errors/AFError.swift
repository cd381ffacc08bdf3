public import FoundationEssentials
import LinuxSupport
import ReachabilityHTTP
public import ReachabilityRetry
public import ServerTrust

/// The error of a request. Failures that only this library has, for example ``DownloadFailure``, are the ``underlyingError``.
///
/// | Failure | Case | Underlying error |
/// |---|---|---|
/// | there is no answer, or none that is complete | ``sessionTaskFailed(error:)`` | ``URLError``, whose ``URLError/cause`` is a `RetryError` with every attempt |
/// | a method or a header field that cannot be sent | ``createURLRequestFailed(error:)`` | `InvalidRequest` |
/// | a file that cannot be written, or another download to it | ``sessionTaskFailed(error:)`` | ``DownloadFailure`` |
/// | a server that is not trusted | ``serverTrustEvaluationFailed(reason:)`` | `ServerTrustError` |
/// | a body beyond ``ResponseLimits`` | ``responseSerializationFailed(reason:)`` | ``ResponseTooLong`` |
/// | a character set that is not known | ``responseSerializationFailed(reason:)`` | ``UnknownCharacterSet`` |
public enum AFError: Error, Sendable {
    /// The body of an upload cannot be read.
    case createUploadableFailed(error: any Error)
    /// `asURLRequest()` failed, or the request cannot be sent as it is.
    case createURLRequestFailed(error: any Error)
    /// The file is complete, but could not be moved to its destination.
    case downloadedFileMoveFailed(error: any Error, source: URL, destination: URL)
    /// The request was cancelled, by `cancel()` or because no task waits for it any more.
    case explicitlyCancelled
    /// The value has no URL.
    case invalidURL(url: any URLConvertible)
    /// A form could not be encoded.
    case multipartEncodingFailed(reason: MultipartEncodingFailureReason)
    /// An encoder of JSON, or an encoding of parameters of no particular type, failed.
    case parameterEncodingFailed(reason: ParameterEncodingFailureReason)
    /// A ``ParameterEncoder`` failed.
    case parameterEncoderFailed(reason: ParameterEncoderFailureReason)
    /// An adapter failed.
    case requestAdaptationFailed(error: any Error)
    /// A retrier ended the request with an error of its own.
    case requestRetryFailed(retryError: any Error, originalError: any Error)
    /// A validation rejected the answer.
    case responseValidationFailed(reason: ResponseValidationFailureReason)
    /// A serializer could not read the answer.
    case responseSerializationFailed(reason: ResponseSerializationFailureReason)
    /// The session's ``Session/serverTrustManager`` does not trust the server.
    case serverTrustEvaluationFailed(reason: ServerTrustFailureReason)
    /// The session was released. Requests keep their session here, so it does not occur.
    case sessionDeinitialized
    /// The session was invalidated. Sessions are not invalidated here, so it does not occur.
    case sessionInvalidated(error: (any Error)?)
    /// There is no answer, or none that is complete.
    case sessionTaskFailed(error: any Error)
    /// The request must not be sent.
    case urlRequestValidationFailed(reason: URLRequestValidationFailureReason)

    /// The reason why a form could not be encoded.
    public enum MultipartEncodingFailureReason: Sendable {
        /// The URL is not one of a file.
        case bodyPartURLInvalid(url: URL)
        /// The URL has no file name.
        case bodyPartFilenameInvalid(in: URL)
        /// The file does not exist, is not a regular file, or cannot be read.
        case bodyPartFileNotReachable(at: URL)
        /// The file cannot be reached, with the error.
        case bodyPartFileNotReachableWithError(atURL: URL, error: any Error)
        /// The file is a directory.
        case bodyPartFileIsDirectory(at: URL)
        /// The size of the file is not known.
        case bodyPartFileSizeNotAvailable(at: URL)
        /// The size of the file is not known, with the error.
        case bodyPartFileSizeQueryFailedWithError(forURL: URL, error: any Error)
        /// The file cannot be opened.
        case bodyPartInputStreamCreationFailed(for: URL)
        /// The file of the form cannot be created.
        case outputStreamCreationFailed(for: URL)
        /// The file of the form exists.
        case outputStreamFileAlreadyExists(at: URL)
        /// The URL of the form is not one of a file.
        case outputStreamURLInvalid(url: URL)
        /// The form could not be written, or not kept in memory.
        case outputStreamWriteFailed(error: any Error)
        /// A part could not be read, or has another length than when it was added.
        case inputStreamReadFailed(error: any Error)
    }

    /// A stream with another length than announced.
    public struct UnexpectedInputStreamLength: Error, Hashable {
        /// The announced length in bytes.
        public var bytesExpected: UInt64
        /// The number of bytes read.
        public var bytesRead: UInt64

        /// Creates an error.
        public init(bytesExpected: UInt64, bytesRead: UInt64) {
            self.bytesExpected = bytesExpected
            self.bytesRead = bytesRead
        }
    }

    /// The reason why parameters without a static type could not be encoded.
    public enum ParameterEncodingFailureReason: Sendable {
        /// The request has no URL.
        case missingURL
        /// JSON has no such value.
        case jsonEncodingFailed(error: any Error)
        /// An encoding of the caller failed.
        case customEncodingFailed(error: any Error)
    }

    /// The reason why an encodable value could not be encoded.
    public enum ParameterEncoderFailureReason: Sendable {
        /// A part of the request that an encoder needs.
        public enum RequiredComponent: Sendable {
            /// The URL of the request.
            case url
            /// The method of the request, with the invalid value.
            case httpMethod(rawValue: String)
        }

        /// The request has no such part.
        case missingRequiredComponent(RequiredComponent)
        /// The encoder or the value failed.
        case encoderFailed(error: any Error)
    }

    /// The reason why an answer was rejected.
    public enum ResponseValidationFailureReason: Sendable {
        /// There is no file.
        case dataFileNil
        /// The file cannot be read.
        case dataFileReadFailed(at: URL)
        /// The answer has no content type.
        case missingContentType(acceptableContentTypes: [String])
        /// The content type is not acceptable.
        case unacceptableContentType(acceptableContentTypes: [String], responseContentType: String)
        /// The status is not acceptable.
        case unacceptableStatusCode(code: Int)
        /// A closure of the caller rejected the answer.
        case customValidationFailed(error: any Error)
    }

    /// The reason why an answer could not be read.
    public enum ResponseSerializationFailureReason: Sendable {
        /// The body is empty.
        case inputDataNilOrZeroLength
        /// There is no file.
        case inputFileNil
        /// The file cannot be read.
        case inputFileReadFailed(at: URL)
        /// The body is not text of this encoding.
        case stringSerializationFailed(encoding: String.Encoding)
        /// The body is not JSON.
        case jsonSerializationFailed(error: any Error)
        /// The body is not a value of the type.
        case decodingFailed(error: any Error)
        /// A serializer of the caller failed, or the body is too long or in an unknown character set.
        case customSerializationFailed(error: any Error)
        /// The body is empty, and the type has no value for that.
        case invalidEmptyResponse(type: String)
    }

    /// The reason why a server is not trusted.
    public enum ServerTrustFailureReason: Sendable {
        /// The host has no evaluator, and all hosts must be evaluated.
        case noRequiredEvaluator(host: String)
        /// An evaluator that compares certificates has none.
        case noCertificatesFound
        /// An evaluator that compares keys has none.
        case noPublicKeysFound
        /// None of the pinned certificates is on the chain.
        case certificatePinningFailed(host: String, serverCertificates: [TrustCertificate])
        /// None of the pinned keys is on the chain.
        case publicKeyPinningFailed(host: String, serverKeys: [ServerPublicKey])
        /// An evaluator or a closure of the caller refused the server.
        case customEvaluationFailed(error: any Error)
        /// The chain, the host, a revocation or the settings of the manager. The error is a `ServerTrustError`.
        case trustEvaluationFailed(error: (any Error)?)
    }

    /// The reason why a request must not be sent.
    public enum URLRequestValidationFailureReason: Sendable {
        /// A GET request has a body.
        case bodyDataInGETRequest(Data)
    }
}

extension Error {
    /// The error as an ``AFError``; nil if it is another.
    public var asAFError: AFError? { self as? AFError }

    /// Returns the error as an ``AFError``, or `other` if it has another type.
    func asAFError(or other: @autoclosure () -> AFError) -> AFError { self as? AFError ?? other() }
}

extension AFError {
    /// A Boolean value that indicates whether it is ``explicitlyCancelled``.
    public var isExplicitlyCancelledError: Bool { if case .explicitlyCancelled = self { true } else { false } }
    /// A Boolean value that indicates whether it is ``responseValidationFailed(reason:)``.
    public var isResponseValidationError: Bool { if case .responseValidationFailed = self { true } else { false } }
    /// A Boolean value that indicates whether it is ``sessionTaskFailed(error:)``.
    public var isSessionTaskError: Bool { if case .sessionTaskFailed = self { true } else { false } }

    /// The error below this one. That of a cancellation is a `CancellationError`.
    public var underlyingError: (any Error)? {
        switch self {
        case .createUploadableFailed(let error), .createURLRequestFailed(let error),
            .downloadedFileMoveFailed(let error, _, _), .requestAdaptationFailed(let error),
            .requestRetryFailed(let error, _), .sessionTaskFailed(let error):
            error
        case .multipartEncodingFailed(let reason): reason.underlyingError
        case .parameterEncodingFailed(.jsonEncodingFailed(let error)),
            .parameterEncodingFailed(.customEncodingFailed(let error)),
            .parameterEncoderFailed(.encoderFailed(let error)),
            .responseValidationFailed(.customValidationFailed(let error)),
            .responseSerializationFailed(.jsonSerializationFailed(let error)),
            .responseSerializationFailed(.decodingFailed(let error)),
            .responseSerializationFailed(.customSerializationFailed(let error)),
            .serverTrustEvaluationFailed(.customEvaluationFailed(let error)):
            error
        case .sessionInvalidated(let error), .serverTrustEvaluationFailed(.trustEvaluationFailed(let error)): error
        case .explicitlyCancelled: CancellationError()
        case .invalidURL, .parameterEncodingFailed(.missingURL), .parameterEncoderFailed, .responseValidationFailed,
            .responseSerializationFailed, .serverTrustEvaluationFailed, .sessionDeinitialized,
            .urlRequestValidationFailed:
            nil
        }
    }

    /// The status that was not acceptable.
    public var responseCode: Int? {
        if case .responseValidationFailed(.unacceptableStatusCode(let code)) = self { code } else { nil }
    }

    /// All attempts, if there was no answer.
    public var attempts: [RetryAttempt] {
        guard case .sessionTaskFailed(let error as URLError) = self else { return [] }
        return (error.cause as? RetryError)?.attempts ?? []
    }
}

extension AFError.MultipartEncodingFailureReason {
    fileprivate var underlyingError: (any Error)? {
        switch self {
        case .bodyPartFileNotReachableWithError(_, let error), .bodyPartFileSizeQueryFailedWithError(_, let error),
            .outputStreamWriteFailed(let error), .inputStreamReadFailed(let error):
            error
        default: nil
        }
    }
}

extension AFError.ServerTrustFailureReason {
    init(_ error: ServerTrustError) {
        self =
            switch error.reason {
            case .noEvaluator: .noRequiredEvaluator(host: error.host)
            case .noPins: error.pinsKeys ? .noPublicKeysFound : .noCertificatesFound
            case .notPinned where !error.pinsKeys:
                .certificatePinningFailed(host: error.host, serverCertificates: error.chain)
            case .notPinned, .pinMismatch:
                .publicKeyPinningFailed(host: error.host, serverKeys: error.chain.map(\.publicKey))
            case .custom: .customEvaluationFailed(error: error)
            default: .trustEvaluationFailed(error: error)
            }
    }
}

extension AFError {
    /// Creates the result of a request that ended without an answer.
    init(_ error: RetryError) {
        guard error.ending != .cancelled else {
            self = .explicitlyCancelled
            return
        }
        self = error.lastError.flatMap { AFError(ownFailure: $0) } ?? .sessionTaskFailed(error: URLError(cause: error))
    }

    /// Creates the failure of one attempt, as retriers receive it.
    init(attemptError error: any Error) {
        self =
            switch error {
            case let failure as StatusFailure:
                .responseValidationFailed(reason: .unacceptableStatusCode(code: failure.status))
            case AttemptError.unsent(let cause): .sessionTaskFailed(error: URLError(cause: cause))
            default: AFError(ownFailure: error) ?? .sessionTaskFailed(error: URLError(cause: error))
            }
    }

    /// Creates the error for a failure that has a separate case. Returns nil for a failure of the network or the client.
    private init?(ownFailure failure: any Error) {
        switch failure {
        case let failure as InvalidRequest: self = .createURLRequestFailed(error: failure)
        case let failure as ServerTrustError: self = .serverTrustEvaluationFailed(reason: .init(failure))
        case AttemptError.adapterFailed(let cause):
            self =
                switch cause {
                case let cause as AFError: cause
                default: .createURLRequestFailed(error: cause)
                }
        case AttemptError.refused(_, let cause):
            self = cause.asAFError(or: .responseValidationFailed(reason: .customValidationFailed(error: cause)))
        case let failure as AFError: self = failure
        default: return nil
        }
    }
}

/// For retriers: the error below ``AFError/sessionTaskFailed(error:)`` decides.
extension AFError: RetryableError {
    /// The stage of the attempt that failed last; nil if the error is not one of the network.
    public var failureStage: FailureStage? { networkError?.failureStage }

    /// A Boolean value that indicates whether a connection in use was lost.
    public var isConnectionLost: Bool { networkError?.isConnectionLost ?? false }

    /// The reason why no connection was made.
    public var connectionFailure: ConnectionFailure? { networkError?.connectionFailure }

    private var networkError: (any RetryableError)? {
        guard case .sessionTaskFailed(let error) = self else { return nil }
        return ((error as? URLError)?.failure ?? error) as? any RetryableError
    }
}
