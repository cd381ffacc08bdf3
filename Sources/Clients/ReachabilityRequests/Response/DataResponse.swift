public import FoundationEssentials
public import ReachabilityRetry

/// What came of a request: the answer, its value or why there is none, and how it was come by.
public struct DataResponse<Success: Sendable>: Sendable {
    /// The request as the caller made it, parameters included.
    public let request: OutgoingRequest
    /// The answer; nil where there was none.
    public let response: ResponseHead?
    /// The body; of an answer that was refused 64 KiB at most. Nil where there was no answer.
    public let data: Data?
    /// How long it took, and each hop.
    public let metrics: RequestMetrics
    /// How long the serializer took, in seconds.
    public let serializationDuration: Double
    /// The value, or why there is none.
    public let result: Result<Success, RequestError>

    /// The value; nil where there is none.
    public var value: Success? { try? result.get() }

    /// Why there is no value; nil where there is one.
    public var error: RequestError? { if case .failure(let error) = result { error } else { nil } }

    /// The same with another value.
    public func map<New: Sendable>(_ transform: (Success) -> New) -> DataResponse<New> {
        with(result.map(transform))
    }

    /// The same with another value, or with what the closure throws.
    public func tryMap<New: Sendable>(_ transform: (Success) throws -> New) -> DataResponse<New> {
        with(
            result.flatMap { value in
                do {
                    return .success(try transform(value))
                } catch {
                    let reason = RequestError.ResponseSerializationFailureReason.customSerializationFailed(error: error)
                    return .failure(error as? RequestError ?? .responseSerializationFailed(reason: reason))
                }
            }
        )
    }

    private func with<New: Sendable>(_ result: Result<New, RequestError>) -> DataResponse<New> {
        DataResponse<New>(
            request: request,
            response: response,
            data: data,
            metrics: metrics,
            serializationDuration: serializationDuration,
            result: result
        )
    }
}

/// How long a request took. What async-http-client does not tell, the time of the name, the connection and TLS, is not guessed.
public struct RequestMetrics: Sendable {
    /// One answer of a server.
    public struct Hop: Hashable, Sendable {
        /// The URL that was asked.
        public let url: String
        /// The status of the answer.
        public let statusCode: Int
        /// How many attempts it took.
        public let attempts: Int
    }

    /// From when the request was begun until its result was there.
    public var duration: Duration = .zero
    /// From when it was begun until the head of the answer was there; nil where there was none.
    public var timeToHead: Duration?
    /// How many bytes of the body came, after a coding was undone.
    public var receivedBytes: Int64 = 0
    /// Each redirect, and the last answer.
    public var hops: [Hop] = []
    /// Every attempt, of all hops.
    public var attempts: [RetryAttempt] = []
    /// The request as adapters made it for the last attempt at its own origin; nil where it did not come to that.
    public var sentRequest: PlainRequest?

    /// How often it was sent again; what a redirect has led to is no repetition.
    public var retryCount: Int { attempts.count { $0.reason != nil } }

    /// Nothing yet.
    public init() {}
}
