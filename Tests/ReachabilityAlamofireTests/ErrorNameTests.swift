import FoundationEssentials
import ReachabilityAlamofire
import Testing

/// The kinds and values of errors.
struct ErrorNameTests {
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

    @Test func `an error of another type is not an AFError`() {
        #expect(
            Cause().asAFError == nil && AFError.explicitlyCancelled.asAFError(orFailWith: "").isExplicitlyCancelledError
        )
    }
}
