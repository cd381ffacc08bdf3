import AsyncHTTPClient
import FoundationEssentials
import ReachabilityRetry
import Testing

@testable import ReachabilityRequests

/// The kinds, values and texts of errors.
struct ErrorRows {
    private struct Cause: Error {}

    private static let file = URL(filePath: "/f")

    private static let kinds: [(AFError, String)] = [
        (.explicitlyCancelled, "cancelled"), (.invalidURL(url: ""), "url"),
        (.responseValidationFailed(reason: .unacceptableStatusCode(code: 404)), "validation"),
        (.responseValidationFailed(reason: .missingContentType(acceptableContentTypes: [])), "validation"),
        (.responseValidationFailed(reason: .customValidationFailed(error: Cause())), "validation"),
        (.responseValidationFailed(reason: .dataFileNil), "validation"),
        (.responseSerializationFailed(reason: .inputDataNilOrZeroLength), "serialization"),
        (.responseSerializationFailed(reason: .decodingFailed(error: Cause())), "serialization"),
        (.responseSerializationFailed(reason: .stringSerializationFailed(encoding: .utf8)), "serialization"),
        (.responseSerializationFailed(reason: .invalidEmptyResponse(type: "T")), "serialization"),
        (.sessionTaskFailed(error: Cause()), "task"),
        (.downloadedFileMoveFailed(error: Cause(), source: file, destination: file), "move"),
        (.requestAdaptationFailed(error: Cause()), "adaptation"),
        (.createUploadableFailed(error: Cause()), "uploadable"), (.createURLRequestFailed(error: Cause()), "request"),
        (.parameterEncodingFailed(reason: .jsonEncodingFailed(error: Cause())), "encoding"),
        (.parameterEncoderFailed(reason: .encoderFailed(error: Cause())), "encoder"),
        (.multipartEncodingFailed(reason: .bodyPartFileNotReachable(at: file)), "multipart"),
        (.requestRetryFailed(retryError: Cause(), originalError: Cause()), "retry"),
        (.sessionDeinitialized, "deinitialized"), (.sessionInvalidated(error: nil), "invalidated"),
        (.urlRequestValidationFailed(reason: .bodyDataInGETRequest(Data())), ""),
    ]

    @Test func `each error has exactly one kind`() {
        for (error, kind) in Self.kinds {
            let kinds: [(Bool, String)] = [
                (error.isExplicitlyCancelledError, "cancelled"), (error.isInvalidURLError, "url"),
                (error.isResponseValidationError, "validation"),
                (error.isResponseSerializationError, "serialization"), (error.isSessionTaskError, "task"),
                (error.isDownloadedFileMoveError, "move"), (error.isRequestAdaptationError, "adaptation"),
                (error.isCreateUploadableError, "uploadable"), (error.isCreateURLRequestError, "request"),
                (error.isParameterEncodingError, "encoding"), (error.isParameterEncoderError, "encoder"),
                (error.isMultipartEncodingError, "multipart"), (error.isRequestRetryError, "retry"),
                (error.isSessionDeinitializedError, "deinitialized"),
                (error.isSessionInvalidatedError, "invalidated"),
            ]
            #expect(kinds.filter(\.0).map(\.1).joined(separator: " ") == kind)
            #expect(!error.description.isEmpty && error.attempts.isEmpty)
            #expect(error.localizedDescription == error.errorDescription && error.asAFError != nil)
        }
    }

    @Test func `each error has its underlying error`() {
        let errors: [AFError] = [
            .requestAdaptationFailed(error: Cause()), .createUploadableFailed(error: Cause()),
            .createURLRequestFailed(error: Cause()), .sessionTaskFailed(error: Cause()),
            .sessionInvalidated(error: Cause()),
            .responseValidationFailed(reason: .customValidationFailed(error: Cause())),
            .responseSerializationFailed(reason: .decodingFailed(error: Cause())),
            .responseSerializationFailed(reason: .jsonSerializationFailed(error: Cause())),
            .responseSerializationFailed(reason: .customSerializationFailed(error: Cause())),
            .parameterEncodingFailed(reason: .jsonEncodingFailed(error: Cause())),
            .parameterEncodingFailed(reason: .customEncodingFailed(error: Cause())),
            .parameterEncoderFailed(reason: .encoderFailed(error: Cause())),
            .multipartEncodingFailed(reason: .inputStreamReadFailed(error: Cause())),
            .multipartEncodingFailed(reason: .outputStreamWriteFailed(error: Cause())),
            .multipartEncodingFailed(reason: .bodyPartFileNotReachableWithError(atURL: Self.file, error: Cause())),
            .requestRetryFailed(retryError: Cause(), originalError: CancellationError()),
            .downloadedFileMoveFailed(error: Cause(), source: Self.file, destination: Self.file),
        ]
        for error in errors { #expect(error.underlyingError is Cause, "\(error)") }
        for error in [AFError.sessionDeinitialized, .invalidURL(url: "x"), .sessionInvalidated(error: nil)] {
            #expect(error.underlyingError == nil)
        }
        #expect(AFError.explicitlyCancelled.underlyingError is CancellationError)
    }

    @Test func `an error has the values of its reason`() {
        let type = AFError.responseValidationFailed(
            reason: .unacceptableContentType(acceptableContentTypes: ["a/b"], responseContentType: "c/d")
        )
        #expect(type.acceptableContentTypes == ["a/b"] && type.responseContentType == "c/d")
        let missing = AFError.responseValidationFailed(reason: .missingContentType(acceptableContentTypes: ["a/b"]))
        #expect(missing.acceptableContentTypes == ["a/b"] && missing.responseContentType == nil)
        #expect(AFError.responseValidationFailed(reason: .unacceptableStatusCode(code: 404)).responseCode == 404)
        let encoding = AFError.responseSerializationFailed(reason: .stringSerializationFailed(encoding: .ascii))
        #expect(encoding.failedStringEncoding == .ascii && encoding.responseCode == nil)
        let move = AFError.downloadedFileMoveFailed(
            error: Cause(),
            source: Self.file,
            destination: URL(filePath: "/g")
        )
        #expect(move.sourceURL == Self.file && move.destinationURL == URL(filePath: "/g") && move.url == nil)
        #expect(AFError.multipartEncodingFailed(reason: .bodyPartFileIsDirectory(at: Self.file)).url == Self.file)
        #expect(AFError.invalidURL(url: "x").urlConvertible as? String == "x")
    }

    @Test(
        arguments: [
            (AttemptError.noPath(HostReachability(status: .notReachable)), .notConnectedToInternet),
            (AttemptError.notConnected(.seconds(1)), .timedOut), (AttemptError.pathInterrupted, .networkConnectionLost),
            (AttemptError.unsent(HTTPClientError.connectTimeout), .timedOut),
            (AttemptError.sent(HTTPClientError.readTimeout), .timedOut),
            (HTTPClientError.remoteConnectionClosed, .networkConnectionLost),
            (HTTPClientError.requestStreamCancelled, .badServerResponse), (HTTPClientError.cancelled, .cancelled),
            (SocketFailure(errorNumber: 111, during: .connecting), .cannotConnectToHost),
            (SocketFailure(errorNumber: 104, during: .exchanging), .networkConnectionLost),
            (RedirectFailure.cycle, .httpTooManyRedirects), (CancellationError(), .cancelled), (Cause(), .unknown),
        ] as [(any Error, URLError.Code)]
    )
    func `a failure of the network has a code and its cause`(failure: any Error, code: URLError.Code) {
        let error = AFError(attemptError: failure)
        let below = error.underlyingError as? URLError
        #expect(below?.code == code && below?.errorCode == code.rawValue && below?.cause != nil)
        let stage = (failure as? any RetryableError)?.failureStage
        #expect(error.failureStage == stage && below?.failureStage == stage)
        #expect(error.connectionFailure == (failure as? any RetryableError)?.connectionFailure)
        #expect(URLError(.timedOut).cause == nil && URLError.Code(URLError(.timedOut)) == .timedOut)
        #expect(!URLError(.timedOut).description.isEmpty)
    }

    @Test func `error texts contain no control characters of foreign text`() {
        let errors: [AFError] = [
            .invalidURL(url: "h\u{1b}[2J"), .createURLRequestFailed(error: InvalidRequest.method("\u{7}")),
            .responseValidationFailed(
                reason: .unacceptableContentType(acceptableContentTypes: ["a/b"], responseContentType: "a\u{1b}c")
            ),
            .responseSerializationFailed(
                reason: .customSerializationFailed(error: UnknownCharacterSet(name: "\u{9b}2J"))
            ),
            .multipartEncodingFailed(reason: .bodyPartFileNotReachable(at: URL(filePath: "/\u{202e}"))),
            .sessionTaskFailed(error: DownloadFailure.busy(path: "a\r\nb")),
            .sessionTaskFailed(error: DownloadFailure.fileExists(path: "\u{0}")),
            .createUploadableFailed(error: FileFailure(path: "\u{1b}", reason: "x")),
        ]
        for error in errors {
            let isSafe = error.description.unicodeScalars.allSatisfy { scalar in
                ![.control, .format].contains(scalar.properties.generalCategory)
            }
            #expect(isSafe, "\(error)")
        }
    }
}
