public import FoundationEssentials
public import ReachabilityRequests

extension Error {
    /// Returns the error as an `AFError`. Another error ends the process with the message.
    public func asAFError(
        orFailWith message: @autoclosure () -> String,
        file: StaticString = #fileID,
        line: UInt = #line
    ) -> AFError {
        guard let error = self as? AFError else { fatalError(message(), file: file, line: line) }
        return error
    }
}

extension AFError {
    /// A Boolean value that indicates whether it is `sessionDeinitialized`.
    public var isSessionDeinitializedError: Bool { if case .sessionDeinitialized = self { true } else { false } }
    /// A Boolean value that indicates whether it is `sessionInvalidated(error:)`.
    public var isSessionInvalidatedError: Bool { if case .sessionInvalidated = self { true } else { false } }
    /// A Boolean value that indicates whether it is `invalidURL(url:)`.
    public var isInvalidURLError: Bool { if case .invalidURL = self { true } else { false } }
    /// A Boolean value that indicates whether it is `parameterEncodingFailed(reason:)`.
    public var isParameterEncodingError: Bool { if case .parameterEncodingFailed = self { true } else { false } }
    /// A Boolean value that indicates whether it is `parameterEncoderFailed(reason:)`.
    public var isParameterEncoderError: Bool { if case .parameterEncoderFailed = self { true } else { false } }
    /// A Boolean value that indicates whether it is `multipartEncodingFailed(reason:)`.
    public var isMultipartEncodingError: Bool { if case .multipartEncodingFailed = self { true } else { false } }
    /// A Boolean value that indicates whether it is `requestAdaptationFailed(error:)`.
    public var isRequestAdaptationError: Bool { if case .requestAdaptationFailed = self { true } else { false } }
    /// A Boolean value that indicates whether it is `responseSerializationFailed(reason:)`.
    public var isResponseSerializationError: Bool {
        if case .responseSerializationFailed = self { true } else { false }
    }
    /// A Boolean value that indicates whether it is `serverTrustEvaluationFailed(reason:)`.
    public var isServerTrustEvaluationError: Bool {
        if case .serverTrustEvaluationFailed = self { true } else { false }
    }
    /// A Boolean value that indicates whether it is `requestRetryFailed(retryError:originalError:)`.
    public var isRequestRetryError: Bool { if case .requestRetryFailed = self { true } else { false } }
    /// A Boolean value that indicates whether it is `createUploadableFailed(error:)`.
    public var isCreateUploadableError: Bool { if case .createUploadableFailed = self { true } else { false } }
    /// A Boolean value that indicates whether it is `createURLRequestFailed(error:)`.
    public var isCreateURLRequestError: Bool { if case .createURLRequestFailed = self { true } else { false } }
    /// A Boolean value that indicates whether it is `downloadedFileMoveFailed(error:source:destination:)`.
    public var isDownloadedFileMoveError: Bool { if case .downloadedFileMoveFailed = self { true } else { false } }

    /// The value without a URL.
    public var urlConvertible: (any URLConvertible)? { if case .invalidURL(let url) = self { url } else { nil } }

    /// The URL of the file that could not become a part of a form, or of the form.
    public var url: URL? { if case .multipartEncodingFailed(let reason) = self { reason.url } else { nil } }

    /// The content types that were acceptable.
    public var acceptableContentTypes: [String]? {
        switch self {
        case .responseValidationFailed(.missingContentType(let types)),
            .responseValidationFailed(.unacceptableContentType(let types, _)):
            types
        default: nil
        }
    }

    /// The content type that was not acceptable.
    public var responseContentType: String? {
        if case .responseValidationFailed(.unacceptableContentType(_, let type)) = self { type } else { nil }
    }

    /// The encoding in which the body is not text.
    public var failedStringEncoding: String.Encoding? {
        if case .responseSerializationFailed(.stringSerializationFailed(let encoding)) = self { encoding } else { nil }
    }

    /// The file that could not be moved.
    public var sourceURL: URL? { if case .downloadedFileMoveFailed(_, let url, _) = self { url } else { nil } }

    /// The place to which the file could not be moved.
    public var destinationURL: URL? { if case .downloadedFileMoveFailed(_, _, let url) = self { url } else { nil } }
}

extension AFError.MultipartEncodingFailureReason {
    fileprivate var url: URL? {
        switch self {
        case .bodyPartURLInvalid(let url), .bodyPartFilenameInvalid(let url), .bodyPartFileNotReachable(let url),
            .bodyPartFileNotReachableWithError(let url, _), .bodyPartFileIsDirectory(let url),
            .bodyPartFileSizeNotAvailable(let url), .bodyPartFileSizeQueryFailedWithError(let url, _),
            .bodyPartInputStreamCreationFailed(let url), .outputStreamCreationFailed(let url),
            .outputStreamFileAlreadyExists(let url), .outputStreamURLInvalid(let url):
            url
        case .outputStreamWriteFailed, .inputStreamReadFailed: nil
        }
    }
}
