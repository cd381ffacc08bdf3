import AsyncHTTPClient
import FoundationEssentials
import ReachabilityRetry
import Testing

@testable import ReachabilityRequests

/// The kinds, values and texts of errors.
struct ErrorRows {
    private struct Cause: Error {}

    private static let file = URL(filePath: "/f")

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
