import ReachabilityRequests
import Testing

/// What each error says of itself, as Alamofire's do.
struct ErrorRows {
    private struct Cause: Error {}

    @Test(arguments: [
        (RequestError.explicitlyCancelled, "cancelled"), (.invalidURL(url: ""), "url"),
        (.responseValidationFailed(reason: .unacceptableStatusCode(code: 404)), "validation"),
        (.responseValidationFailed(reason: .missingContentType(acceptableContentTypes: [])), "validation"),
        (.responseValidationFailed(reason: .customValidationFailed(error: Cause())), "validation"),
        (.responseSerializationFailed(reason: .inputDataNilOrZeroLength), "serialization"),
        (.responseSerializationFailed(reason: .decodingFailed(error: Cause(), contentType: nil)), "serialization"),
        (.responseSerializationFailed(reason: .stringSerializationFailed(charset: "x")), "serialization"),
        (.responseSerializationFailed(reason: .invalidEmptyResponse(type: "T")), "serialization"),
        (.sessionTaskFailed(error: Cause()), "task"),
        (.downloadedFileMoveFailed(error: Cause(), source: "", destination: ""), "move"),
        (.requestAdaptationFailed(error: Cause()), ""), (.createUploadableFailed(error: Cause()), ""),
        (.parameterEncodingFailed(reason: .jsonEncodingFailed(error: Cause())), ""),
        (.parameterEncoderFailed(reason: .encoderFailed(error: Cause())), ""),
        (.multipartEncodingFailed(reason: .bodyPartFileNotReachable(at: "")), ""),
        (.requestRetryFailed(retryError: Cause(), originalError: Cause()), ""), (.invalidMethod(""), ""),
    ])
    func `which kind it is`(error: RequestError, kind: String) {
        let kinds = [
            error.isExplicitlyCancelledError ? "cancelled" : nil, error.isInvalidURLError ? "url" : nil,
            error.isResponseValidationError ? "validation" : nil,
            error.isResponseSerializationError ? "serialization" : nil, error.isSessionTaskError ? "task" : nil,
            error.isDownloadedFileMoveError ? "move" : nil,
        ]
        #expect(kinds.compactMap { $0 }.joined(separator: " ") == kind)
        #expect(!error.description.isEmpty && error.attempts.isEmpty)
    }

    @Test(arguments: [
        RequestError.requestAdaptationFailed(error: Cause()), .createUploadableFailed(error: Cause()),
        .sessionTaskFailed(error: Cause()), .responseValidationFailed(reason: .customValidationFailed(error: Cause())),
        .responseSerializationFailed(reason: .decodingFailed(error: Cause(), contentType: nil)),
        .responseSerializationFailed(reason: .customSerializationFailed(error: Cause())),
        .parameterEncodingFailed(reason: .jsonEncodingFailed(error: Cause())),
        .parameterEncoderFailed(reason: .encoderFailed(error: Cause())),
        .requestRetryFailed(retryError: Cause(), originalError: CancellationError()),
        .downloadedFileMoveFailed(error: Cause(), source: "", destination: ""),
        .downloadedFileWriteFailed(error: Cause(), path: ""), .downloadInterrupted(error: Cause()),
    ])
    func `what is below it`(error: RequestError) {
        #expect(error.underlyingError is Cause)
    }

    @Test(arguments: [
        RequestError.invalidURL(url: "h\u{1b}[2J"), .invalidMethod("\u{7}"),
        .responseValidationFailed(
            reason: .unacceptableContentType(acceptableContentTypes: ["a/b"], responseContentType: "a\u{1b}c")
        ),
        .responseSerializationFailed(reason: .stringSerializationFailed(charset: "\u{9b}2J")),
        .multipartEncodingFailed(reason: .bodyPartFileNotReachable(at: "\u{202e}")),
        .downloadBusy(path: "a\r\nb"), .fileExists(path: "\u{0}"),
    ])
    func `text of strangers is safe to show`(error: RequestError) {
        let isSafe = error.description.unicodeScalars.allSatisfy { scalar in
            ![.control, .format].contains(scalar.properties.generalCategory)
        }
        #expect(isSafe)
    }
}
