public import FoundationEssentials
import LinuxSupport
import ReachabilityHTTP
public import ReachabilityRetry

/// Why a request has no result. The cases have Alamofire's names wherever the meaning is the same.
public enum RequestError: Error, Sendable {
    /// What is to be uploaded cannot be read.
    case createUploadableFailed(error: any Error)
    /// The file is whole, and could not be put in its place.
    case downloadedFileMoveFailed(error: any Error, source: String, destination: String)
    /// The file, or what is beside it until it is whole, cannot be written: the disk is full or read-only, for example.
    case downloadedFileWriteFailed(error: any Error, path: String)
    /// Another download to the same place is under way.
    case downloadBusy(path: String)
    /// What the server sends makes no file.
    case downloadInterrupted(error: any Error)
    /// There is a file already, and it is not to be replaced.
    case fileExists(path: String)
    /// It was cancelled: by `cancel()`, or because nobody waits for it any more.
    case explicitlyCancelled
    /// What was given is no URL of `http` or `https` with a host.
    case invalidURL(url: String)
    /// The method is no token (RFC 9110, section 9.1).
    case invalidMethod(String)
    /// The name of a header field is no token, or its value has a line break or a NUL (RFC 9110, section 5.5). Nothing of it is sent.
    case invalidHeader(name: String)
    /// A part of a form cannot be read, or the form does not fit in memory.
    case multipartEncodingFailed(reason: MultipartEncodingFailureReason)
    /// The parameters cannot be written as the encoding wants.
    case parameterEncodingFailed(reason: ParameterEncodingFailureReason)
    /// The encoder could not write the parameters.
    case parameterEncoderFailed(reason: ParameterEncoderFailureReason)
    /// An adapter has refused the request.
    case requestAdaptationFailed(error: any Error)
    /// A retrier has put an error of its own in the place of the failure.
    case requestRetryFailed(retryError: any Error, originalError: any Error)
    /// The answer is there, and is not what was wanted.
    case responseValidationFailed(reason: ResponseValidationFailureReason)
    /// The answer is there, and could not be read as what was wanted.
    case responseSerializationFailed(reason: ResponseSerializationFailureReason)
    /// What is read as it comes has one reader, and there was one before.
    case streamTaken
    /// There is no answer, or none that is whole. The error is a `RetryError` with every attempt.
    case sessionTaskFailed(error: any Error)

    /// What was wrong with a form.
    public enum MultipartEncodingFailureReason: Error, Sendable {
        /// The file is not there, is no regular file, or may not be read.
        case bodyPartFileNotReachable(at: String)
        /// The file is longer or shorter than when it was added to the form.
        case bodyPartFileSizeChanged(at: String, from: Int64, to: Int64)
        /// The form is longer than what may be kept in memory.
        case inMemoryLimitExceeded(bytes: Int64, limit: Int64)
    }

    /// Why parameters cannot be written.
    public enum ParameterEncodingFailureReason: Error, Sendable {
        /// JSON has no such value.
        case jsonEncodingFailed(error: any Error)
    }

    /// Why an encoder could not write parameters.
    public enum ParameterEncoderFailureReason: Error, Sendable {
        /// The encoder, or a parameter, has thrown this.
        case encoderFailed(error: any Error)
    }

    /// Why an answer was not accepted.
    public enum ResponseValidationFailureReason: Error, Sendable {
        /// There is no content type, and some are wanted.
        case missingContentType(acceptableContentTypes: [String])
        /// It is none of these.
        case unacceptableContentType(acceptableContentTypes: [String], responseContentType: String)
        /// The status is none of those that were wanted.
        case unacceptableStatusCode(code: Int)
        /// A closure of the caller's has said this.
        case customValidationFailed(error: any Error)
    }

    /// Why an answer could not be read.
    public enum ResponseSerializationFailureReason: Error, Sendable {
        /// It is empty, and must not be.
        case inputDataNilOrZeroLength
        /// It is longer than what may be kept in memory. Nothing beyond the limit was kept.
        case inputDataTooLong(limit: Int)
        /// It is not text of this character set, or the set is not known.
        case stringSerializationFailed(charset: String)
        /// It is not what was to be decoded. A page of HTML, such as a captive portal's, is named as such.
        case decodingFailed(error: any Error, contentType: String?)
        /// It is empty, which says nothing of a value of this type.
        case invalidEmptyResponse(type: String)
        /// A serializer of the caller's has said this.
        case customSerializationFailed(error: any Error)
    }
}

/// Alamofire's name.
public typealias AFError = RequestError

extension RequestError {
    /// Whether it was cancelled.
    public var isExplicitlyCancelledError: Bool { if case .explicitlyCancelled = self { true } else { false } }
    /// Whether it is ``invalidURL(url:)``.
    public var isInvalidURLError: Bool { if case .invalidURL = self { true } else { false } }
    /// Whether it is ``responseValidationFailed(reason:)``.
    public var isResponseValidationError: Bool { if case .responseValidationFailed = self { true } else { false } }
    /// Whether it is ``responseSerializationFailed(reason:)``.
    public var isResponseSerializationError: Bool {
        if case .responseSerializationFailed = self { true } else { false }
    }
    /// Whether it is ``sessionTaskFailed(error:)``.
    public var isSessionTaskError: Bool { if case .sessionTaskFailed = self { true } else { false } }
    /// Whether it is ``requestAdaptationFailed(error:)``.
    public var isRequestAdaptationError: Bool { if case .requestAdaptationFailed = self { true } else { false } }
    /// Whether it is ``requestRetryFailed(retryError:originalError:)``.
    public var isRequestRetryError: Bool { if case .requestRetryFailed = self { true } else { false } }
    /// Whether it is ``downloadedFileMoveFailed(error:source:destination:)``.
    public var isDownloadedFileMoveError: Bool { if case .downloadedFileMoveFailed = self { true } else { false } }

    /// The status that was not accepted.
    public var responseCode: Int? {
        if case .responseValidationFailed(.unacceptableStatusCode(let code)) = self { code } else { nil }
    }

    /// The error below this one. That of a cancellation is a `CancellationError`.
    public var underlyingError: (any Error)? {
        switch self {
        case .createUploadableFailed(let error), .downloadedFileMoveFailed(let error, _, _),
            .downloadedFileWriteFailed(let error, _), .downloadInterrupted(let error),
            .requestAdaptationFailed(let error), .sessionTaskFailed(let error),
            .responseValidationFailed(.customValidationFailed(let error)),
            .responseSerializationFailed(.decodingFailed(let error, _)),
            .responseSerializationFailed(.customSerializationFailed(let error)),
            .parameterEncodingFailed(.jsonEncodingFailed(let error)),
            .parameterEncoderFailed(.encoderFailed(let error)), .requestRetryFailed(let error, _):
            error
        case .explicitlyCancelled: CancellationError()
        default: nil
        }
    }

    /// Every attempt, where there was no answer.
    public var attempts: [RetryAttempt] {
        if case .sessionTaskFailed(let error as RetryError) = self { error.attempts } else { [] }
    }
}

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

extension RequestError: CustomStringConvertible {
    /// One sentence for logs: what was tried, and what was said. Text of servers is made safe to show.
    public var description: String {
        switch self {
        case .createUploadableFailed(let error): "what is to be uploaded cannot be read: \(error)"
        case .downloadedFileMoveFailed(let error, let source, let destination):
            "\(source.printable) is whole, but could not become \(destination.printable): \(error)"
        case .downloadedFileWriteFailed(let error, let path): "\(path.printable) cannot be written: \(error)"
        case .downloadBusy(let path): "another download to \(path.printable) is under way"
        case .downloadInterrupted(let error): "the download was ended: \(error)"
        case .fileExists(let path): "\(path.printable) is there already; remove it, or have it replaced"
        case .explicitlyCancelled: "the request was cancelled"
        case .invalidURL(let url): "\(url.printable) is no URL of http or https with a host"
        case .invalidMethod(let method): "\(method.printable) is no method of HTTP"
        case .invalidHeader(let name): "the header field \(name.printable) has a name or a value that cannot be sent"
        case .multipartEncodingFailed(let reason): "the form cannot be sent: \(reason)"
        case .parameterEncodingFailed(.jsonEncodingFailed(let error)):
            "the parameters cannot be written as JSON: \(String(describing: error).printable)"
        case .parameterEncoderFailed(.encoderFailed(let error)):
            "the parameters cannot be encoded: \(String(describing: error).printable)"
        case .requestAdaptationFailed(let error): "an adapter refused the request: \(error)"
        case .requestRetryFailed(let error, let original):
            "a retrier ended the request: \(error); it had failed with: \(original)"
        case .responseValidationFailed(let reason): "the answer was not accepted: \(reason)"
        case .responseSerializationFailed(let reason): "the answer could not be read: \(reason)"
        case .streamTaken: "somebody reads this answer already, and it comes only once"
        case .sessionTaskFailed(let error as RetryError): Self.text(error)
        case .sessionTaskFailed(let error): "cannot get an answer: \(ErrorDescription.text(of: error).printable)"
        }
    }

    private static func text(_ error: RetryError) -> String {
        let cause = error.lastError.map { ErrorDescription.text(of: $0).printable } ?? error.ending.rawValue
        let attempts = error.attempts.count > 1 ? " (\(error.attempts.count) attempts)" : ""
        return "cannot get an answer from \(error.target): \(cause)\(attempts)"
    }
}

extension RequestError.MultipartEncodingFailureReason: CustomStringConvertible {
    /// A few words.
    public var description: String {
        switch self {
        case .bodyPartFileNotReachable(let path): "\(path.printable) is no file that can be read"
        case .bodyPartFileSizeChanged(let path, let before, let now):
            "\(path.printable) had \(before) bytes and has \(now) now; send it again when it is at rest"
        case .inMemoryLimitExceeded(let bytes, let limit):
            "it has \(bytes) bytes, \(limit) may be kept in memory; send it as a stream"
        }
    }
}

extension RequestError.ResponseValidationFailureReason: CustomStringConvertible {
    /// A few words.
    public var description: String {
        switch self {
        case .missingContentType(let wanted): "it has no content type; wanted is \(wanted.joined(separator: ", "))"
        case .unacceptableContentType(let wanted, let type):
            "its content type is \(type.printable); wanted is \(wanted.joined(separator: ", "))"
                + (MIMEType(type)?.isPage == true ? ". A page of HTML may be that of a captive portal" : "")
        case .unacceptableStatusCode(let code): "its status is \(code)"
        case .customValidationFailed(let error): "\(error)"
        }
    }
}

extension RequestError.ResponseSerializationFailureReason: CustomStringConvertible {
    /// A few words.
    public var description: String {
        switch self {
        case .inputDataNilOrZeroLength: "it is empty"
        case .inputDataTooLong(let limit): "it has more than \(limit) bytes; raise the limit, or download it"
        case .stringSerializationFailed(let charset): "it is no text in \(charset.printable)"
        case .decodingFailed(let error, let type):
            if let type, MIMEType(type)?.isPage == true {
                "it is a page of HTML, perhaps that of a captive portal"
            } else {
                "it cannot be decoded: \(String(describing: error).printable)"
            }
        case .invalidEmptyResponse(let type): "it is empty, which is no \(type)"
        case .customSerializationFailed(let error): "\(error)"
        }
    }
}

/// An error whose `localizedDescription`, also as `any Error`, is its description.
public protocol DescribedError: LocalizedError, CustomStringConvertible {}

extension DescribedError {
    /// The description.
    public var errorDescription: String? { description }
}

extension RequestError: DescribedError {
    /// The description. It needs no import of Foundation.
    public var localizedDescription: String { description }
}

extension AuthenticationError: DescribedError {}
extension MissingSession: DescribedError {}
extension RetryError: DescribedError {}
extension RetryPolicyError: DescribedError {}
extension RetryTargetError: DescribedError {}
extension InvalidRequest: DescribedError {}
extension StatusFailure: DescribedError {}
extension AttemptError: DescribedError {}
