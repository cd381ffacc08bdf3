public import Dispatch
public import FoundationEssentials
import LinuxSupport
public import ReachabilityRequests

/// An event monitor that calls closures.
///
/// ```swift
/// let monitor = ClosureEventMonitor()
/// monitor.requestDidFinish = { request in print(request) }
/// let session = Session(eventMonitors: [monitor])
/// ```
///
/// The closures are members of ``Handlers``. A closure can be set at any time. For their meaning see the methods of `EventMonitor`.
@dynamicMemberLookup
public final class ClosureEventMonitor: EventMonitor {
    /// The closures that receive events.
    public struct Handlers: Sendable {
        /// A request was created.
        public var requestDidCreateInitialURLRequest: (@Sendable (Request, URLRequest) -> Void)?
        /// A request cannot be created.
        public var requestDidFailToCreateURLRequestWithError: (@Sendable (Request, AFError) -> Void)?
        /// Adapters have returned a request.
        public var requestDidAdaptInitialRequestToAdaptedRequest: (@Sendable (Request, URLRequest, URLRequest) -> Void)?
        /// An adapter has failed.
        public var requestDidFailToAdaptURLRequestWithError: (@Sendable (Request, URLRequest, AFError) -> Void)?
        /// The request of the next task is final.
        public var requestDidCreateURLRequest: (@Sendable (Request, URLRequest) -> Void)?
        /// A task was created.
        public var requestDidCreateTask: (@Sendable (Request, URLSessionTask) -> Void)?
        /// A task has ended with these metrics.
        public var requestDidGatherMetrics: (@Sendable (Request, RequestMetrics) -> Void)?
        /// A task fails because of an error of this library.
        public var requestDidFailTaskEarlyWithError: (@Sendable (Request, URLSessionTask, AFError) -> Void)?
        /// A task has ended.
        public var requestDidCompleteTaskWithError: (@Sendable (Request, URLSessionTask, AFError?) -> Void)?
        /// Another task follows a failed one.
        public var requestIsRetrying: (@Sendable (Request) -> Void)?
        /// The request has its result.
        public var requestDidFinish: (@Sendable (Request) -> Void)?
        /// The request begins or continues.
        public var requestDidResume: (@Sendable (Request) -> Void)?
        /// A task begins or continues.
        public var requestDidResumeTask: (@Sendable (Request, URLSessionTask) -> Void)?
        /// The request was suspended.
        public var requestDidSuspend: (@Sendable (Request) -> Void)?
        /// A task was suspended.
        public var requestDidSuspendTask: (@Sendable (Request, URLSessionTask) -> Void)?
        /// The request was cancelled.
        public var requestDidCancel: (@Sendable (Request) -> Void)?
        /// A task was cancelled.
        public var requestDidCancelTask: (@Sendable (Request, URLSessionTask) -> Void)?
        /// A validation has run.
        public var requestDidValidateRequestResponseDataWithResult:
            (@Sendable (DataRequest, URLRequest?, HTTPURLResponse, Data?, Request.ValidationResult) -> Void)?
        /// The response of a handler without a serializer was created.
        public var requestDidParseResponse: (@Sendable (DataRequest, DataResponse<Data?, AFError>) -> Void)?
        /// A validation of a stream has run.
        public var requestDidValidateRequestResponseWithResult:
            (@Sendable (DataStreamRequest, URLRequest?, HTTPURLResponse, Request.ValidationResult) -> Void)?
        /// The body of an upload was created.
        public var requestDidCreateUploadable: (@Sendable (UploadRequest, UploadRequest.Uploadable) -> Void)?
        /// The body of an upload cannot be created.
        public var requestDidFailToCreateUploadableWithError: (@Sendable (UploadRequest, AFError) -> Void)?
        /// An attempt sends this stream.
        public var requestDidProvideInputStream: (@Sendable (UploadRequest, InputStream) -> Void)?
        /// A file is at its place, or cannot be moved there.
        public var requestDidFinishDownloadingUsingTaskWithResult:
            (@Sendable (DownloadRequest, URLSessionTask, Result<URL, AFError>) -> Void)?
        /// The place of a file was chosen.
        public var requestDidCreateDestinationURL: (@Sendable (DownloadRequest, URL) -> Void)?
        /// A validation of a download has run.
        public var requestDidValidateRequestResponseFileURLWithResult:
            (@Sendable (DownloadRequest, URLRequest?, HTTPURLResponse, URL?, Request.ValidationResult) -> Void)?
        /// The response of a handler without a serializer was created.
        public var requestDidParseDownloadResponse:
            (@Sendable (DownloadRequest, DownloadResponse<URL?, AFError>) -> Void)?
        /// A task has ended with these metrics.
        public var taskDidFinishCollectingMetrics: (@Sendable (Session, URLSessionTask, RequestMetrics) -> Void)?
        /// A task has ended.
        public var taskDidComplete: (@Sendable (Session, URLSessionTask, (any Error)?) -> Void)?
        /// An answer has begun.
        public var dataTaskDidReceiveResponse: (@Sendable (Session, URLSessionTask, HTTPURLResponse) -> Void)?
        /// A file is at its place.
        public var downloadTaskDidFinishDownloadingToURL: (@Sendable (Session, URLSessionTask, URL) -> Void)?
    }

    /// The queue of the calls.
    public let queue: DispatchQueue

    private let handlers = Locked(Handlers())

    /// Creates a monitor without closures.
    public init(queue: DispatchQueue = .main) { self.queue = queue }

    /// A closure of ``Handlers``.
    public subscript<Handler: Sendable>(dynamicMember handler: WritableKeyPath<Handlers, Handler>) -> Handler {
        get { handlers.withLock { $0[keyPath: handler] } }
        set { handlers.withLock { $0[keyPath: handler] = newValue } }
    }

    /// See ``Handlers``.
    public var requestIsRetrying: (@Sendable (Request) -> Void)? {
        get { self[dynamicMember: \.requestIsRetrying] }
        set { self[dynamicMember: \.requestIsRetrying] = newValue }
    }
    /// See ``Handlers``.
    public var requestDidFinish: (@Sendable (Request) -> Void)? {
        get { self[dynamicMember: \.requestDidFinish] }
        set { self[dynamicMember: \.requestDidFinish] = newValue }
    }
    /// See ``Handlers``.
    public var requestDidResume: (@Sendable (Request) -> Void)? {
        get { self[dynamicMember: \.requestDidResume] }
        set { self[dynamicMember: \.requestDidResume] = newValue }
    }
    /// See ``Handlers``.
    public var requestDidSuspend: (@Sendable (Request) -> Void)? {
        get { self[dynamicMember: \.requestDidSuspend] }
        set { self[dynamicMember: \.requestDidSuspend] = newValue }
    }
    /// See ``Handlers``.
    public var requestDidCancel: (@Sendable (Request) -> Void)? {
        get { self[dynamicMember: \.requestDidCancel] }
        set { self[dynamicMember: \.requestDidCancel] = newValue }
    }
}

/// Calls of the closures.
extension ClosureEventMonitor {
    /// Calls the closure.
    public func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest) {
        self.requestDidCreateInitialURLRequest?(request, urlRequest)
    }
    /// Calls the closure.
    public func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError) {
        self.requestDidFailToCreateURLRequestWithError?(request, error)
    }
    /// Calls the closure.
    public func request(_ request: Request, didAdaptInitialRequest initial: URLRequest, to adapted: URLRequest) {
        self.requestDidAdaptInitialRequestToAdaptedRequest?(request, initial, adapted)
    }
    /// Calls the closure.
    public func request(_ request: Request, didFailToAdaptURLRequest initial: URLRequest, withError error: AFError) {
        self.requestDidFailToAdaptURLRequestWithError?(request, initial, error)
    }
    /// Calls the closure.
    public func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) {
        self.requestDidCreateURLRequest?(request, urlRequest)
    }
    /// Calls the closure.
    public func request(_ request: Request, didCreateTask task: URLSessionTask) {
        self.requestDidCreateTask?(request, task)
    }
    /// Calls the closures.
    public func request(_ request: Request, didGatherMetrics metrics: RequestMetrics) {
        self.requestDidGatherMetrics?(request, metrics)
        if let task = request.task { self.taskDidFinishCollectingMetrics?(request.session, task, metrics) }
    }
    /// Calls the closure.
    public func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError) {
        self.requestDidFailTaskEarlyWithError?(request, task, error)
    }
    /// Calls the closures.
    public func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
        self.taskDidComplete?(request.session, task, error)
        self.requestDidCompleteTaskWithError?(request, task, error)
    }
    /// Calls the closure.
    public func requestIsRetrying(_ request: Request) { requestIsRetrying?(request) }
    /// Calls the closure.
    public func requestDidFinish(_ request: Request) { requestDidFinish?(request) }
    /// Calls the closure.
    public func requestDidResume(_ request: Request) { requestDidResume?(request) }
    /// Calls the closure.
    public func request(_ request: Request, didResumeTask task: URLSessionTask) {
        self.requestDidResumeTask?(request, task)
    }
    /// Calls the closure.
    public func requestDidSuspend(_ request: Request) { requestDidSuspend?(request) }
    /// Calls the closure.
    public func request(_ request: Request, didSuspendTask task: URLSessionTask) {
        self.requestDidSuspendTask?(request, task)
    }
    /// Calls the closure.
    public func requestDidCancel(_ request: Request) { requestDidCancel?(request) }
    /// Calls the closure.
    public func request(_ request: Request, didCancelTask task: URLSessionTask) {
        self.requestDidCancelTask?(request, task)
    }
    /// Calls the closure.
    public func request(
        _ request: DataRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        data: Data?,
        withResult result: Request.ValidationResult
    ) {
        self.requestDidValidateRequestResponseDataWithResult?(request, urlRequest, response, data, result)
    }
    /// Calls the closure.
    public func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>) {
        self.requestDidParseResponse?(request, response)
    }
    /// Calls the closure.
    public func request(
        _ request: DataStreamRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        withResult result: Request.ValidationResult
    ) {
        self.requestDidValidateRequestResponseWithResult?(request, urlRequest, response, result)
    }
    /// Calls the closure.
    public func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable) {
        self.requestDidCreateUploadable?(request, uploadable)
    }
    /// Calls the closure.
    public func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError) {
        self.requestDidFailToCreateUploadableWithError?(request, error)
    }
    /// Calls the closure.
    public func request(_ request: UploadRequest, didProvideInputStream stream: InputStream) {
        self.requestDidProvideInputStream?(request, stream)
    }
    /// Calls the closures.
    public func request(
        _ request: DownloadRequest,
        didFinishDownloadingUsing task: URLSessionTask,
        with result: Result<URL, AFError>
    ) {
        if let url = try? result.get() { self.downloadTaskDidFinishDownloadingToURL?(request.session, task, url) }
        self.requestDidFinishDownloadingUsingTaskWithResult?(request, task, result)
    }
    /// Calls the closure.
    public func request(_ request: DownloadRequest, didCreateDestinationURL url: URL) {
        self.requestDidCreateDestinationURL?(request, url)
    }
    /// Calls the closure.
    public func request(
        _ request: DownloadRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        fileURL: URL?,
        withResult result: Request.ValidationResult
    ) {
        self.requestDidValidateRequestResponseFileURLWithResult?(request, urlRequest, response, fileURL, result)
    }
    /// Calls the closure.
    public func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>) {
        self.requestDidParseDownloadResponse?(request, response)
    }
    /// Calls the closure.
    public func request(_ request: Request, didReceiveResponse response: HTTPURLResponse) {
        if let task = request.task { self.dataTaskDidReceiveResponse?(request.session, task, response) }
    }
}
