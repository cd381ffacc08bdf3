public import FoundationEssentials
public import ReachabilityRetry

/// A response whose error is an ``AFError``.
public typealias AFDataResponse<Success> = DataResponse<Success, AFError>
/// The response of a download whose error is an ``AFError``.
public typealias AFDownloadResponse<Success> = DataResponse<Success, AFError>
/// A value, or an ``AFError``.
public typealias AFResult<Success> = Result<Success, AFError>
/// The response of a download. It is the same type as that of other requests.
public typealias DownloadResponse<Success, Failure: Error> = DataResponse<Success, Failure>

/// The result of a request, with the answer and the metrics. The body is in memory (``data``), or in a file (``fileURL``).
public struct DataResponse<Success, Failure: Error> {
    /// The request as it was sent last, with the changes of adapters; nil if it could not be created.
    public let request: URLRequest?
    /// The head of the last answer, also if its body is incomplete; nil if there was none.
    public let response: HTTPURLResponse?
    /// The body, of a rejected answer at most ``ResponseLimits/refusedBody`` bytes; nil if it is empty or incomplete, and for a download.
    public private(set) var data: Data?
    /// The file of a download, or nil.
    public private(set) var fileURL: URL?
    /// The data with which a download can be continued; nil if it cannot.
    public private(set) var resumeData: Data?
    /// The durations, the hops and the attempts.
    public let metrics: RequestMetrics?
    /// The duration of the serializer, in seconds.
    public private(set) var serializationDuration: Double
    /// The value or the error.
    public let result: Result<Success, Failure>

    /// Creates the response of a request whose body is in memory.
    public init(
        request: URLRequest?,
        response: HTTPURLResponse?,
        data: Data?,
        metrics: RequestMetrics?,
        serializationDuration: Double,
        result: Result<Success, Failure>
    ) {
        (self.request, self.response, self.data, self.metrics) = (request, response, data, metrics)
        (self.serializationDuration, self.result) = (serializationDuration, result)
    }

    /// Creates the response of a download.
    public init(
        request: URLRequest?,
        response: HTTPURLResponse?,
        fileURL: URL?,
        resumeData: Data?,
        metrics: RequestMetrics?,
        serializationDuration: Double,
        result: Result<Success, Failure>
    ) {
        (self.request, self.response, self.metrics) = (request, response, metrics)
        (self.fileURL, self.resumeData) = (fileURL, resumeData)
        (self.serializationDuration, self.result) = (serializationDuration, result)
    }

    /// Creates the response of an answer.
    init(request: URLRequest?, answer: Answer, serializationDuration: Double, result: Result<Success, Failure>) {
        (self.request, response, data, fileURL) = (request, answer.response, answer.data, answer.file)
        (resumeData, metrics) = (answer.resumeData, answer.metrics)
        (self.serializationDuration, self.result) = (serializationDuration, result)
    }

    /// Creates a response with another result.
    package init<Value, NewError>(_ other: DataResponse<Value, NewError>, _ result: Result<Success, Failure>) {
        (request, response, data, fileURL) = (other.request, other.response, other.data, other.fileURL)
        (resumeData, metrics, serializationDuration) = (other.resumeData, other.metrics, other.serializationDuration)
        self.result = result
    }

    /// Returns a response with the result of a serializer.
    package func serialized<New, NewError>(_ read: () -> Result<New, NewError>) -> DataResponse<New, NewError> {
        let began = ContinuousClock.now
        var response = DataResponse<New, NewError>(self, read())
        response.serializationDuration = began.duration(to: .now) / .seconds(1)
        return response
    }

    /// The value, or nil.
    public var value: Success? { try? result.get() }

    /// The error; nil if there is a value.
    public var error: Failure? { if case .failure(let error) = result { error } else { nil } }

    /// Returns the response with another value.
    public func map<New>(_ transform: (Success) -> New) -> DataResponse<New, Failure> {
        DataResponse<New, Failure>(self, result.map(transform))
    }
}

extension DataResponse: Sendable where Success: Sendable {}

/// The durations, hops and attempts of a request.
///
/// async-http-client does not report when a name was resolved, and when the connection and TLS were established. ``connectionDuration`` is
/// their sum.
public struct RequestMetrics: Sendable {
    /// One answer of a server.
    public struct Hop: Hashable, Sendable {
        /// The URL of the request, as text.
        public let url: String
        /// The status of the answer.
        public let statusCode: Int
        /// The number of attempts.
        public let attempts: Int
    }

    /// The time when the request began.
    public var startDate = Date()
    /// The time from the beginning of the request until its result.
    public var duration: Duration = .zero
    /// The time from the beginning of the request until the head of the answer; nil without an answer.
    public var timeToHead: Duration?
    /// The time from the first byte of the last attempt's request until the head of its answer; nil without an answer.
    public var requestDuration: Duration?
    /// The number of bytes of the body, without its content coding.
    public var receivedBytes: Int64 = 0
    /// Each redirect, and the last answer.
    public var hops: [Hop] = []
    /// All attempts, of all hops.
    public var attempts: [RetryAttempt] = []

    /// The number of retries because of a serializer.
    private var repetitions = 0

    /// The number of retries. The request after a redirect is not a retry.
    public var retryCount: Int { attempts.count { $0.reason != nil } + repetitions }

    /// The time from the beginning of the last attempt until the first byte of its request was sent: adapters, name resolution, connection,
    /// TLS, and the wait for a free connection. Nil if nothing was sent.
    public var connectionDuration: Duration? { attempts.last.flatMap { last in last.sent.map { $0 - last.began } } }
    /// The time from the head of the answer until the result; nil without an answer.
    public var responseDuration: Duration? { timeToHead.map { duration - $0 } }
    /// The time from the beginning of the request until its result.
    public var taskInterval: DateInterval { DateInterval(start: startDate, duration: max(0, duration / .seconds(1))) }
    /// The number of redirects that were followed.
    public var redirectCount: Int { max(0, hops.count - 1) }

    /// Records the end, which is now.
    mutating func end(after duration: Duration) {
        self.duration = duration
        startDate = Date(timeIntervalSinceNow: -(duration / .seconds(1)))
    }

    /// Adds an earlier run, whose answer a serializer has rejected.
    mutating func add(_ earlier: RequestMetrics?, _ elapsed: Duration) {
        attempts = (earlier?.attempts ?? []) + attempts
        repetitions = (earlier?.repetitions ?? 0) + 1
        timeToHead? += elapsed
        end(after: duration + elapsed)
    }

    /// Metrics without values.
    public init() {}
}
