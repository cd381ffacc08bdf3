public import FoundationEssentials
import LinuxSupport
import ReachabilityHTTP
import ReachabilityRetry

/// The body of an answer was longer than the limit (``ResponseLimits``). Nothing beyond it was kept.
public struct ResponseTooLong: Error, Hashable {
    /// The limit in bytes.
    public let limit: Int
}

/// The answer names a character set that is not known. Text in another character set would have other letters.
public struct UnknownCharacterSet: Error, Hashable {
    /// The name as the server sent it.
    public let name: String
}

/// The file of a body has another size than when it was added.
public struct FileSizeChanged: Error, Hashable {
    /// The path of the file.
    public let path: String
    /// The size when it was added, in bytes.
    public let before: Int64
    /// The size when it was read, in bytes.
    public let now: Int64
}

/// The request permits only a cached answer (`returnCacheDataDontLoad`), and there is no cache.
public struct NotCached: Error, Hashable {}

/// The answer has another reader. Only one can read it.
public struct StreamTaken: Error, Hashable {}

extension AFError: CustomStringConvertible {
    /// The error in one sentence for logs. Text of servers is escaped.
    public var description: String {
        switch self {
        case .createUploadableFailed(let error): "cannot read the body of the upload: \(Self.text(error))"
        case .createURLRequestFailed(let error): "cannot create the request: \(Self.text(error))"
        case .downloadedFileMoveFailed(let error, let source, let destination):
            "cannot move \(source.path.printable) to \(destination.path.printable): \(Self.text(error))"
        case .explicitlyCancelled: "the request was cancelled"
        case .invalidURL(let url): "\("\(url)".printable) is not a URL of http or https with a host"
        case .multipartEncodingFailed(let reason): "cannot encode the form: \(reason.text)"
        case .parameterEncodingFailed(let reason): "cannot encode the parameters: \(reason.text)"
        case .parameterEncoderFailed(let reason): "cannot encode the parameters: \(reason.text)"
        case .requestAdaptationFailed(let error): "cannot adapt the request: \(Self.text(error))"
        case .requestRetryFailed(let error, let original):
            "a retrier ended the request: \(Self.text(error)); it had failed with: \(Self.text(original))"
        case .responseValidationFailed(let reason): "the answer was rejected: \(reason.text)"
        case .responseSerializationFailed(let reason): "cannot read the answer: \(reason.text)"
        case .serverTrustEvaluationFailed(let reason): reason.text
        case .sessionDeinitialized: "the session was released before the request ended"
        case .sessionInvalidated(let error):
            "the session was invalidated" + (error.map { ": \(Self.text($0))" } ?? "")
        case .sessionTaskFailed(let error as URLError): error.description
        case .sessionTaskFailed(let error): "cannot get an answer: \(Self.text(error))"
        case .urlRequestValidationFailed(.bodyDataInGETRequest(let data)):
            "a GET request must not have a body, but has one of \(data.count) bytes"
        }
    }

    fileprivate static func text(_ error: any Error) -> String { ErrorDescription.text(of: error).printable }
}

extension AFError.MultipartEncodingFailureReason {
    fileprivate var text: String {
        switch self {
        case .bodyPartURLInvalid(let url), .outputStreamURLInvalid(let url): "\(url.text) is not the URL of a file"
        case .bodyPartFilenameInvalid(let url): "\(url.text) has no file name"
        case .bodyPartFileNotReachable(let url): "\(url.text) is not a file that can be read"
        case .bodyPartFileNotReachableWithError(let url, let error): "cannot read \(url.text): \(AFError.text(error))"
        case .bodyPartFileIsDirectory(let url): "\(url.text) is a directory"
        case .bodyPartFileSizeNotAvailable(let url): "the size of \(url.text) is not known"
        case .bodyPartFileSizeQueryFailedWithError(let url, let error):
            "the size of \(url.text) is not known: \(AFError.text(error))"
        case .bodyPartInputStreamCreationFailed(let url): "cannot open \(url.text)"
        case .outputStreamCreationFailed(let url): "cannot create \(url.text)"
        case .outputStreamFileAlreadyExists(let url): "\(url.text) exists"
        case .outputStreamWriteFailed(let error): "cannot write it: \(AFError.text(error))"
        case .inputStreamReadFailed(let error): "cannot read a part: \(AFError.text(error))"
        }
    }
}

extension AFError.ParameterEncodingFailureReason {
    fileprivate var text: String {
        switch self {
        case .missingURL: "the request has no URL"
        case .jsonEncodingFailed(let error): "JSON has no such value: \(AFError.text(error))"
        case .customEncodingFailed(let error): AFError.text(error)
        }
    }
}

extension AFError.ParameterEncoderFailureReason {
    fileprivate var text: String {
        switch self {
        case .missingRequiredComponent(.url): "the request has no URL"
        case .missingRequiredComponent(.httpMethod(let name)): "the request has no method, but \(name.printable)"
        case .encoderFailed(let error): AFError.text(error)
        }
    }
}

extension AFError.ResponseValidationFailureReason {
    fileprivate var text: String {
        switch self {
        case .dataFileNil: "there is no file"
        case .dataFileReadFailed(let url): "cannot read the file \(url.text)"
        case .missingContentType(let types): "it has no content type; acceptable is \(types.joined(separator: ", "))"
        case .unacceptableContentType(let types, let type):
            "its content type is \(type.printable); acceptable is \(types.joined(separator: ", "))"
                + (MIMEType(type)?.isPage == true ? ". A page of HTML may be that of a captive portal" : "")
        case .unacceptableStatusCode(let code): "its status is \(code)"
        case .customValidationFailed(let error): AFError.text(error)
        }
    }
}

extension AFError.ResponseSerializationFailureReason {
    fileprivate var text: String {
        switch self {
        case .inputDataNilOrZeroLength: "it is empty"
        case .inputFileNil: "there is no file"
        case .inputFileReadFailed(let url): "cannot read the file \(url.text)"
        case .stringSerializationFailed(let encoding): "it is not text in \(encoding.description.printable)"
        case .jsonSerializationFailed(let error):
            "it is not JSON: \(AFError.text((error as? CocoaError)?.underlying ?? error))"
        case .decodingFailed(let error): "it cannot be decoded: \(AFError.text(error))"
        case .customSerializationFailed(let error): AFError.text(error)
        case .invalidEmptyResponse(let type): "it is empty, and \(type) has no value for that"
        }
    }
}

extension AFError.ServerTrustFailureReason {
    fileprivate var text: String {
        switch self {
        case .noRequiredEvaluator(let host): "the server of \(host.printable) is not trusted: it has no evaluator"
        case .noCertificatesFound: "the server is not trusted: no certificates are pinned"
        case .noPublicKeysFound: "the server is not trusted: no keys are pinned"
        case .certificatePinningFailed(let host, let chain):
            "the server of \(host.printable) is not trusted: none of its \(chain.count) certificates is pinned"
        case .publicKeyPinningFailed(let host, let keys):
            "the server of \(host.printable) is not trusted: none of its \(keys.count) keys is pinned"
        case .customEvaluationFailed(let error): AFError.text(error)
        case .trustEvaluationFailed(let error):
            error.map { AFError.text($0) } ?? "the server is not trusted"
        }
    }
}

extension URL {
    /// The path of a file, or the URL, escaped.
    fileprivate var text: String { (isFileURL ? path : absoluteString).printable }
}

/// An error whose `localizedDescription`, also as `any Error`, is its description.
public protocol DescribedError: LocalizedError, CustomStringConvertible {}

extension DescribedError {
    /// The description.
    public var errorDescription: String? { description }
}

extension AFError: DescribedError {
    /// The description. It needs no import of Foundation.
    public var localizedDescription: String { description }
}

extension URLError: DescribedError {
    /// The target, the failure, and the number of attempts if there are several.
    public var description: String {
        guard let error = cause as? RetryError else {
            return "cannot get an answer: \(cause.map { AFError.text($0) } ?? "\(code)")"
        }
        let cause = error.lastError.map { AFError.text($0) } ?? error.ending.rawValue
        let attempts = error.attempts.count > 1 ? " (\(error.attempts.count) attempts)" : ""
        return "cannot get an answer from \(error.target): \(cause)\(attempts)"
    }
}

extension ResponseTooLong: DescribedError {
    /// The limit, and a hint.
    public var description: String { "it has more than \(limit) bytes; raise the limit, or download it" }
}

extension UnknownCharacterSet: DescribedError {
    /// The error, with the name of the character set.
    public var description: String { "the character set \(name.printable) is not known" }
}

extension FileSizeChanged: DescribedError {
    /// The error, with both sizes.
    public var description: String {
        "\(path.printable) had \(before) bytes and has \(now) now; send it when it does not change any more"
    }
}

extension NotCached: DescribedError {
    /// The reason in one sentence.
    public var description: String { "the request permits only a cached answer, and there is no cache" }
}

extension StreamTaken: DescribedError {
    /// The reason in one sentence.
    public var description: String { "the stream of the answer has another reader" }
}

extension AFError.UnexpectedInputStreamLength: DescribedError {
    /// The error, with both numbers.
    public var description: String { "\(bytesExpected) bytes were announced, \(bytesRead) were read" }
}

extension AuthenticationError: DescribedError {}
extension RetryError: DescribedError {}
extension RetryPolicyError: DescribedError {}
extension RetryTargetError: DescribedError {}
extension InvalidRequest: DescribedError {}
extension StatusFailure: DescribedError {}
extension AttemptError: DescribedError {}
