import Dispatch
import FoundationEssentials
import LinuxSupport
import ReachabilityRetry
import Synchronization

/// The events of a request. All events for monitors are reported here.
extension Request {
    /// The monitors; nil if there are none.
    var monitors: MonitorList? {
        isWatched.load(ordering: .relaxed) ? values.withLock { $0.monitors } : session.monitors.ifWatched
    }

    /// Adds a monitor of this request. It receives the events from now on, after the monitors of the session.
    @discardableResult
    public func eventMonitor(_ eventMonitor: any EventMonitor) -> Self {
        values.withLock { $0.monitors = MonitorList([eventMonitor], after: $0.monitors ?? session.monitors) }
        isWatched.store(true, ordering: .relaxed)
        return self
    }

    /// The request begins. If it is held, it is not sent yet.
    func didBegin(isHeld: Bool) {
        guard let monitors else { return }
        let isFirst = values.withLock { values in
            defer { values.hasBegun = true }
            return !values.hasBegun
        }
        guard isFirst else { return }
        if !isHeld, !isSuspended { didResume() }
        if let upload = self as? UploadRequest, let created = upload.creation.withLock({ $0 }) {
            upload.didCreate(created)
            if case .failure = created { return }
        }
        switch created {
        case .success(let first): monitors.report { $0.request(self, didCreateInitialURLRequest: first) }
        case .failure(let error): monitors.report { $0.request(self, didFailToCreateURLRequestWithError: error) }
        }
    }

    /// The request, and its task if there is one, begins or continues.
    func didResume() { report({ $0.requestDidResume($1) }, { $0.request($1, didResumeTask: $2) }) }

    /// The request was suspended.
    func didSuspend() { report({ $0.requestDidSuspend($1) }, { $0.request($1, didSuspendTask: $2) }) }

    /// The request was cancelled.
    func didCancel() { report({ $0.requestDidCancel($1) }, { $0.request($1, didCancelTask: $2) }) }

    private func report(
        _ event: @escaping @Sendable (any EventMonitor, Request) -> Void,
        _ taskEvent: @escaping @Sendable (any EventMonitor, Request, URLSessionTask) -> Void
    ) {
        guard let monitors else { return }
        monitors.report { event($0, self) }
        guard values.withLock({ $0.isTaskOpen }), let task = lastTask else { return }
        monitors.report { taskEvent($0, self, task) }
    }

    /// An adapter has failed.
    func didFailToAdapt(_ initial: URLRequest, _ error: AFError) {
        values.withLock { $0.adaptationError = error }
        monitors?.report { $0.request(self, didFailToAdaptURLRequest: initial, withError: error) }
    }

    /// The request was created again, for the next attempt.
    func didCreateAgain(_ result: Result<URLRequest, AFError>) {
        switch result {
        case .success(let request):
            let handlers = values.withLock { values in
                values.requests.append(request)
                return values.createdHandlers
            }
            for handler in handlers { handler(request) }
            monitors?.report { $0.request(self, didCreateInitialURLRequest: request) }
        case .failure(let error): monitors?.report { $0.request(self, didFailToCreateURLRequestWithError: error) }
        }
    }

    /// An attempt begins with this request.
    func willSend(_ request: URLRequest, isAdapted: Bool) {
        let (initial, created, tasks, isTask, isSuspended, isHeld) = values.withLock { values in
            let initial = values.requests.last
            values.performed.append(request)
            (values.response, values.adaptationError, values.isGivenUp) = (nil, nil, false)
            if isAdapted { values.requests.append(request) }
            let isTask = !values.isTaskOpen && !values.hasEnded
            values.isTaskOpen = true
            return (
                initial, isAdapted ? values.createdHandlers : [], values.taskHandlers, isTask, values.isSuspended,
                values.isHeld
            )
        }
        for handler in created { handler(request) }
        let monitors = monitors
        guard isTask, monitors != nil || !tasks.isEmpty, let task = lastTask else { return }
        for handler in tasks { handler(task) }
        guard let monitors else { return }
        if isAdapted, let initial {
            monitors.report { $0.request(self, didAdaptInitialRequest: initial, to: request) }
        }
        monitors.report { $0.request(self, didCreateURLRequest: request) }
        monitors.report { $0.request(self, didCreateTask: task) }
        monitors.report { monitor in
            if isSuspended {
                monitor.request(self, didSuspendTask: task)
            } else if !isHeld {
                monitor.request(self, didResumeTask: task)
            }
        }
    }

    /// An answer has begun.
    func didReceive(_ response: HTTPURLResponse) async {
        let handlers = values.withLock { values in
            values.response = response
            return values.responseHandlers
        }
        monitors?.report { $0.request(self, didReceiveResponse: response) }
        for handler in handlers { await handler(response) }
    }

    /// A validation has run.
    func didValidate(_ sent: URLRequest?, _ response: HTTPURLResponse, _ data: Data?, _ result: ValidationResult) {
        guard let monitors else { return }
        switch self {
        case let request as DataRequest:
            monitors.report {
                $0.request(request, didValidateRequest: sent, response: response, data: data, withResult: result)
            }
        case let request as DataStreamRequest:
            monitors.report {
                $0.request(request, didValidateRequest: sent, response: response, withResult: result)
            }
        case let request as DownloadRequest: request.didValidate(sent, response, file: nil, result)
        default: break
        }
    }

    /// The retriers are called for a failed attempt.
    func didFail(_ failure: FailedRequest) {
        values.withLock { values in
            values.failure = failure
            values.retryCount = max(0, values.earlierRetries + failure.retryCount - values.challenges)
            // The body of an answer that the policy retries was not read.
            if values.response == nil, let status = failure.status {
                values.response = HTTPURLResponse(text: failure.request.url, statusCode: status)
            }
        }
    }

    /// A wait or another event of the retries.
    func didObserve(_ event: RetryEvent, answersChallenge: Bool) {
        if case .waiting(_, let attempt, _) = event, !answersChallenge {
            var metrics = RequestMetrics()
            metrics.attempts = [attempt]
            metrics.end(after: attempt.ended - attempt.began)
            willRetry(after: metrics, attempt.error.map { AFError(attemptError: $0) })
        }
        monitors?.report { $0.request(self, didReportRetryEvent: event) }
    }

    /// The task has ended, and another one follows.
    func willRetry(after metrics: RequestMetrics, _ error: AFError?) {
        let isTaskOpen = values.withLock { values in
            defer { values.isTaskOpen = false }
            return values.isTaskOpen && !values.hasEnded
        }
        guard isTaskOpen, let monitors else { return }
        didComplete(lastTask, metrics, error, monitors)
        monitors.report { $0.requestIsRetrying(self) }
    }

    private func didComplete(
        _ task: URLSessionTask?,
        _ metrics: RequestMetrics,
        _ error: AFError?,
        _ monitors: MonitorList
    ) {
        guard let task else { return }
        let error = error?.isResponseValidationError == true ? nil : error
        if let error, !error.isSessionTaskError, !error.isExplicitlyCancelledError {
            monitors.report { $0.request(self, didFailTask: task, earlyWithError: error) }
        }
        monitors.report { $0.request(self, didGatherMetrics: metrics) }
        monitors.report { $0.request(self, didCompleteTask: task, with: error) }
    }

    /// The request has its result. Called under the lock of the values, so that no thread reports a later event before.
    func didFinish(_ answer: Answer, _ values: inout RequestValues) {
        guard !values.isFinished, !values.hasEnded else { return }
        let task = values.isTaskOpen ? values.tasks.last : nil
        (values.isFinished, values.isTaskOpen) = (true, false)
        guard let monitors = values.monitors ?? session.monitors.ifWatched else { return }
        // The last task that waited for the result was cancelled.
        if answer.error?.isExplicitlyCancelledError == true, !values.isCancelled {
            monitors.report { $0.requestDidCancel(self) }
            if let task { monitors.report { $0.request(self, didCancelTask: task) } }
        }
        didComplete(task, answer.metrics ?? RequestMetrics(), answer.error, monitors)
        monitors.report { $0.requestDidFinish(self) }
    }

    /// The response of a handler or a task was created.
    func didParse<Value: Sendable>(_ response: AFDataResponse<Value>) {
        guard let monitors else { return }
        switch self {
        case let request as DataRequest:
            if let response = response as? AFDataResponse<Data?> {
                monitors.report { $0.request(request, didParseResponse: response) }
            } else {
                monitors.report { $0.request(request, didParseResponse: response) }
            }
        case let request as DownloadRequest:
            if let response = response as? AFDownloadResponse<URL?> {
                monitors.report { $0.request(request, didParseResponse: response) }
            } else {
                monitors.report { $0.request(request, didParseResponse: response) }
            }
        default: break
        }
    }
}

extension UploadRequest {
    /// The body was created, or cannot be created.
    func didCreate(_ body: Result<Uploadable, AFError>) {
        switch body {
        case .success(let body): monitors?.report { $0.request(self, didCreateUploadable: body) }
        case .failure(let error): monitors?.report { $0.request(self, didFailToCreateUploadableWithError: error) }
        }
    }

    /// An attempt sends a stream.
    func didProvide(_ stream: InputStream) { monitors?.report { $0.request(self, didProvideInputStream: stream) } }
}

extension DataStreamRequest {
    /// A value was read. Pieces as they come are not values.
    func didParse<Value: Sendable>(_ result: Result<Value, some RequestFailure>) {
        guard Value.self != Data.self else { return }
        monitors?.report { $0.request(self, didParseStream: result.mapError(\.requestError)) }
    }
}

extension DownloadRequest {
    /// A validation has run.
    func didValidate(_ sent: URLRequest?, _ response: HTTPURLResponse, file: URL?, _ result: ValidationResult) {
        monitors?.report {
            $0.request(self, didValidateRequest: sent, response: response, fileURL: file, withResult: result)
        }
    }

    /// The place of the file was chosen.
    func didChoose(_ destination: URL) { monitors?.report { $0.request(self, didCreateDestinationURL: destination) } }

    /// The file is at its place, or cannot be moved there.
    func didPlace(_ result: Result<URL, AFError>) {
        guard let task = lastTask else { return }
        monitors?.report { $0.request(self, didFinishDownloadingUsing: task, with: result) }
    }
}
