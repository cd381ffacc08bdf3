import LinuxSupport
import ReachabilityHTTP
import ReachabilityRetry

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
        case .sessionTaskFailed(let error): "cannot get an answer: \(FailureWords.text(error).printable)"
        }
    }

    private static func text(_ error: RetryError) -> String {
        let cause = error.lastError.map { FailureWords.text($0).printable } ?? error.ending.rawValue
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
