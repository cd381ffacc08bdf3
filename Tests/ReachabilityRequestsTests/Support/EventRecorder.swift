import Dispatch
import FoundationEssentials
import LinuxSupport
import ReachabilityRequests
import ReachabilityRetry

/// Records the events of requests in the order of its queue.
final class EventRecorder: EventMonitor {
    let queue = DispatchQueue(label: "events")
    private let (events, sink) = AsyncStream.makeStream(of: String.self)

    /// Returns the events up to the first one that begins with a text.
    func events(through last: String = "finish") async -> [String] {
        var names: [String] = []
        for await event in events {
            names.append(event)
            if event.hasPrefix(last) { break }
        }
        return names
    }

    private func note(_ event: String) {
        dispatchPrecondition(condition: .onQueue(queue))
        sink.yield(event)
    }

    private func text(_ result: Request.ValidationResult) -> String {
        if case .success = result { "accepted" } else { "rejected" }
    }

    private func text(_ error: AFError?) -> String {
        switch error {
        case nil: "without an error"
        case .explicitlyCancelled?: "cancelled"
        case .sessionTaskFailed?: "failed"
        default: "with an error"
        }
    }

    func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest) { note("initial") }
    func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError) { note("not created") }
    func request(_ request: Request, didAdaptInitialRequest initial: URLRequest, to adapted: URLRequest) {
        note("adapted \(initial.headers["Trace"] ?? "-") to \(adapted.headers["Trace"] ?? "-")")
    }
    func request(_ request: Request, didFailToAdaptURLRequest initial: URLRequest, withError error: AFError) {
        note("not adapted")
    }
    func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) { note("request") }
    func request(_ request: Request, didCreateTask task: URLSessionTask) { note("task") }
    func request(_ request: Request, didGatherMetrics metrics: RequestMetrics) {
        note("metrics of \(metrics.attempts.count)")
    }
    func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError) {
        note("early error")
    }
    func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
        note("complete \(text(error))")
    }
    func requestIsRetrying(_ request: Request) { note("retry") }
    func requestDidFinish(_ request: Request) { note("finish, \(request.state)") }
    func requestDidResume(_ request: Request) { note("resume") }
    func request(_ request: Request, didResumeTask task: URLSessionTask) { note("resume task") }
    func requestDidSuspend(_ request: Request) { note("suspend") }
    func request(_ request: Request, didSuspendTask task: URLSessionTask) { note("suspend task") }
    func requestDidCancel(_ request: Request) { note("cancel") }
    func request(_ request: Request, didCancelTask task: URLSessionTask) { note("cancel task") }
    func request(
        _ request: DataRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        data: Data?,
        withResult result: Request.ValidationResult
    ) {
        note("\(text(result)) \(response.statusCode) with \(data?.count ?? -1) bytes")
    }
    func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>) {
        note("parsed bytes")
    }
    func request<Value: Sendable>(_ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>) {
        note("parsed \(Value.self)")
    }
    func request(
        _ request: DataStreamRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        withResult result: Request.ValidationResult
    ) {
        note("stream \(text(result))")
    }
    func request<Value: Sendable>(_ request: DataStreamRequest, didParseStream result: Result<Value, AFError>) {
        note("stream parsed \((try? result.get()).map { "\($0)" } ?? "an error")")
    }
    func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable) { note("body") }
    func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError) { note("no body") }
    func request(_ request: UploadRequest, didProvideInputStream stream: InputStream) { note("stream") }
    func request(
        _ request: DownloadRequest,
        didFinishDownloadingUsing task: URLSessionTask,
        with result: Result<URL, AFError>
    ) {
        note((try? result.get()).map { "file \($0.lastPathComponent)" } ?? "no file")
    }
    func request(_ request: DownloadRequest, didCreateDestinationURL url: URL) {
        note("place \(url.lastPathComponent)")
    }
    func request(
        _ request: DownloadRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        fileURL: URL?,
        withResult result: Request.ValidationResult
    ) {
        note("\(fileURL == nil ? "head" : "file") \(text(result))")
    }
    func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>) {
        note("parsed file")
    }
    func request<Value: Sendable>(
        _ request: DownloadRequest,
        didParseResponse response: DownloadResponse<Value, AFError>
    ) {
        note("parsed \(Value.self)")
    }
    func request(_ request: Request, didReceiveResponse response: HTTPURLResponse) {
        note("answer \(response.statusCode)")
    }
    func request(_ request: Request, didReportRetryEvent event: RetryEvent) {
        if case .waiting = event { note("wait") }
    }
}
