public import Dispatch
public import FoundationEssentials
import LinuxSupport
public import ReachabilityRetry
import Synchronization

/// Receives the events of the requests of a session, in order, on its queue. No request waits for a monitor. The default implementation of each
/// method does nothing.
///
/// A task is an attempt of a request. It includes redirects and the answer to a challenge. A retry begins another task.
public protocol EventMonitor: Sendable {
    /// The queue of the calls. A concurrent queue does not keep the order. The default is the main queue.
    var queue: DispatchQueue { get }

    /// A request was created. Adapters were not called yet. Called once for each request.
    func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest)
    /// A request cannot be created.
    func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError)
    /// Adapters have returned the request of the next task.
    func request(_ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest)
    /// An adapter has failed.
    func request(_ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError)
    /// The request of the next task is final.
    func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest)
    /// A task was created.
    func request(_ request: Request, didCreateTask task: URLSessionTask)
    /// A task has ended with these metrics. The metrics of the last task include all attempts.
    func request(_ request: Request, didGatherMetrics metrics: RequestMetrics)
    /// A task fails because of an error of this library, for example a body that is too long. `didCompleteTask` follows.
    func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError)
    /// A task has ended. The error is nil if there is an answer, also if a validation rejects it.
    func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?)
    /// Another task follows a failed one, perhaps after a wait.
    func requestIsRetrying(_ request: Request)
    /// The request has its result. Serializers are called next.
    func requestDidFinish(_ request: Request)
    /// The request begins, or continues after `suspend()`.
    func requestDidResume(_ request: Request)
    /// A task begins, or continues.
    func request(_ request: Request, didResumeTask task: URLSessionTask)
    /// The request was suspended.
    func requestDidSuspend(_ request: Request)
    /// A task was suspended.
    func request(_ request: Request, didSuspendTask task: URLSessionTask)
    /// The request was cancelled.
    func requestDidCancel(_ request: Request)
    /// A task was cancelled.
    func request(_ request: Request, didCancelTask task: URLSessionTask)

    /// A validation has run.
    func request(
        _ request: DataRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        data: Data?,
        withResult result: Request.ValidationResult
    )
    /// The response of a handler without a serializer was created.
    func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>)
    /// A serializer has returned or failed.
    func request<Value: Sendable>(_ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>)

    /// A validation has run.
    func request(
        _ request: DataStreamRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        withResult result: Request.ValidationResult
    )
    /// A part of the answer was read as a value, or cannot be read.
    func request<Value: Sendable>(_ request: DataStreamRequest, didParseStream result: Result<Value, AFError>)

    /// The body of an upload was created.
    func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable)
    /// The body of an upload cannot be created.
    func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError)
    /// An attempt sends this stream. Not called for bytes and files.
    func request(_ request: UploadRequest, didProvideInputStream stream: InputStream)

    /// The file is at its place, or cannot be moved there.
    func request(
        _ request: DownloadRequest,
        didFinishDownloadingUsing task: URLSessionTask,
        with result: Result<URL, AFError>
    )
    /// The place of the file was chosen.
    func request(_ request: DownloadRequest, didCreateDestinationURL url: URL)
    /// A validation has run. The URL is nil if the validation needs only the head of the answer.
    func request(
        _ request: DownloadRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        fileURL: URL?,
        withResult result: Request.ValidationResult
    )
    /// The response of a handler without a serializer was created.
    func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>)
    /// A serializer has returned or failed.
    func request<Value: Sendable>(
        _ request: DownloadRequest,
        didParseResponse response: DownloadResponse<Value, AFError>
    )

    /// An answer has begun: a redirect, a challenge, or an answer that is read. Not in Alamofire.
    func request(_ request: Request, didReceiveResponse response: HTTPURLResponse)
    /// The request waits, is redirected, probes the network, or ends its attempts. Not in Alamofire.
    func request(_ request: Request, didReportRetryEvent event: RetryEvent)
    /// Events are missing here, because 1024 events waited for the monitor. Not in Alamofire.
    func didMissEvents(_ count: Int)
}

// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
/// Default implementations. They do nothing.
extension EventMonitor {
    public var queue: DispatchQueue { .main }

    public func request(_: Request, didCreateInitialURLRequest _: URLRequest) {}
    public func request(_: Request, didFailToCreateURLRequestWithError _: AFError) {}
    public func request(_: Request, didAdaptInitialRequest _: URLRequest, to _: URLRequest) {}
    public func request(_: Request, didFailToAdaptURLRequest _: URLRequest, withError _: AFError) {}
    public func request(_: Request, didCreateURLRequest _: URLRequest) {}
    public func request(_: Request, didCreateTask _: URLSessionTask) {}
    public func request(_: Request, didGatherMetrics _: RequestMetrics) {}
    public func request(_: Request, didFailTask _: URLSessionTask, earlyWithError _: AFError) {}
    public func request(_: Request, didCompleteTask _: URLSessionTask, with _: AFError?) {}
    public func requestIsRetrying(_: Request) {}
    public func requestDidFinish(_: Request) {}
    public func requestDidResume(_: Request) {}
    public func request(_: Request, didResumeTask _: URLSessionTask) {}
    public func requestDidSuspend(_: Request) {}
    public func request(_: Request, didSuspendTask _: URLSessionTask) {}
    public func requestDidCancel(_: Request) {}
    public func request(_: Request, didCancelTask _: URLSessionTask) {}
    public func request(
        _: DataRequest,
        didValidateRequest _: URLRequest?,
        response _: HTTPURLResponse,
        data _: Data?,
        withResult _: Request.ValidationResult
    ) {}
    public func request(_: DataRequest, didParseResponse _: DataResponse<Data?, AFError>) {}
    public func request<Value: Sendable>(_: DataRequest, didParseResponse _: DataResponse<Value, AFError>) {}
    public func request(
        _: DataStreamRequest,
        didValidateRequest _: URLRequest?,
        response _: HTTPURLResponse,
        withResult _: Request.ValidationResult
    ) {}
    public func request<Value: Sendable>(_: DataStreamRequest, didParseStream _: Result<Value, AFError>) {}
    public func request(_: UploadRequest, didCreateUploadable _: UploadRequest.Uploadable) {}
    public func request(_: UploadRequest, didFailToCreateUploadableWithError _: AFError) {}
    public func request(_: UploadRequest, didProvideInputStream _: InputStream) {}
    public func request(
        _: DownloadRequest,
        didFinishDownloadingUsing _: URLSessionTask,
        with _: Result<URL, AFError>
    ) {}
    public func request(_: DownloadRequest, didCreateDestinationURL _: URL) {}
    public func request(
        _: DownloadRequest,
        didValidateRequest _: URLRequest?,
        response _: HTTPURLResponse,
        fileURL _: URL?,
        withResult _: Request.ValidationResult
    ) {}
    public func request(_: DownloadRequest, didParseResponse _: DownloadResponse<URL?, AFError>) {}
    public func request<Value: Sendable>(_: DownloadRequest, didParseResponse _: DownloadResponse<Value, AFError>) {}
    public func request(_: Request, didReceiveResponse _: HTTPURLResponse) {}
    public func request(_: Request, didReportRetryEvent _: RetryEvent) {}
    public func didMissEvents(_: Int) {}
}

/// The monitors of a session or of a request, and those of all sessions of the process.
final class MonitorList: Sendable {
    typealias Event = @Sendable (any EventMonitor) -> Void

    private static let process = Locked<[MonitorQueue]>([])
    private static let isProcessWatched = Atomic(false)

    private let own: [MonitorQueue]

    /// Creates a list of monitors, which receive each event after those of another list.
    init(_ monitors: [any EventMonitor], after others: MonitorList? = nil) {
        own = (others?.own ?? []) + monitors.map(MonitorQueue.init)
    }

    /// The list; nil if it has no monitors, so that no event is made.
    var ifWatched: MonitorList? {
        own.isEmpty && !Self.isProcessWatched.load(ordering: .relaxed) ? nil : self
    }

    /// Reports an event to all monitors.
    func report(_ event: @escaping Event) {
        for queue in own { queue.add(event) }
        for queue in Self.process.withLock({ $0 }) { queue.add(event) }
    }

    fileprivate static func watchProcess(by monitor: any EventMonitor) {
        process.withLock { $0.append(MonitorQueue(monitor)) }
        isProcessWatched.store(true, ordering: .relaxed)
    }
}

extension Session {
    /// Reports the events of all sessions of the process to a monitor, from now on.
    package static func reportAllEvents(to monitor: any EventMonitor) { MonitorList.watchProcess(by: monitor) }
}

/// The events that wait for a monitor. If there are 1024, further events are counted and dropped.
private final class MonitorQueue: Sendable {
    private let monitor: any EventMonitor
    private let queue: DispatchQueue
    private let counts = Locked((waiting: 0, missed: 0))

    init(_ monitor: any EventMonitor) { (self.monitor, queue) = (monitor, monitor.queue) }

    func add(_ event: @escaping MonitorList.Event) {
        counts.withLock { counts in
            guard counts.waiting < 1024 else {
                counts.missed += 1
                return
            }
            let missed = counts.missed
            counts = (counts.waiting + 1, 0)
            // Under the lock, so that the events of all threads keep their order.
            queue.async { [self] in
                if missed > 0 { monitor.didMissEvents(missed) }
                event(monitor)
                self.counts.withLock { $0.waiting -= 1 }
            }
        }
    }
}
