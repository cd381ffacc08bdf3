import Foundation
import FoundationNetworking
import LinuxSupport
import ReachabilityRetry

extension URLSession {
    /// Sends a request until there is a response to return.
    ///
    /// - Parameters:
    ///   - hasBody: True if the request has a body or one is uploaded.
    ///   - release: Releases the content of a response that is retried.
    ///   - send: Makes one attempt in a session, with the body, or without it after a redirect.
    func retry<Value: Sendable>(
        _ request: URLRequest,
        _ policy: RetryPolicy,
        _ options: RequestRetryOptions,
        hasBody: Bool,
        release: @escaping @Sendable (Value) async -> Void = { _ in },
        send:
            @escaping @Sendable (URLSession, URLRequest, RedirectWatch, _ hasBody: Bool) async throws -> (
                Value, URLResponse
            )
    ) async throws(RetryError) -> RetryOutcome<(Value, URLResponse)> {
        let isOnce = request.httpBodyStream != nil
        var options = options
        // The session stores cookies, so the same URL may have another response.
        options.redirects = options.redirects ?? .follow(allowsCycles: true)
        let kept = Locked<(Value, URLResponse)?>(nil)
        let retried = RetriedRequest(
            request.plain,
            host: request.url?.host,
            policy: policy,
            options: options,
            body: hasBody ? isOnce ? .once : .replayable : .none,
            isBodyLost: { error in
                if case .adapterFailed? = error as? AttemptError { false } else { isOnce }
            },
            release: { if let (content, _) = kept.withLock({ $0.take() }) { await release(content) } },
            send: { [timeout = options.attemptTimeout, idempotency = options.idempotency] hop, progress in
                progress.send()
                let adapted = try AttemptError.preparing { try request.adapted(to: hop, timeout: timeout) }
                let isRepeatable = hop.request.method.isIdempotent || idempotency.hasKey(hop.request)
                let session = isRepeatable && !hop.hasBody ? self : self.unpooled()
                defer { if session !== self { session.finishTasksAndInvalidate() } }
                let watch = RedirectWatch(before: session.delegate as? any URLSessionTaskDelegate)
                do {
                    let answer = try await send(session, adapted, watch, hop.hasBody)
                    kept.withLock { $0 = answer }
                    return ResponseHead(answer.1, watch)
                } catch let error as URLError where error.code == .cancelled && Task.isCancelled {
                    throw CancellationError()
                }
            }
        )
        return try await retried.run().returning(kept)
    }

    /// Returns a session without open connections. If a reused connection breaks without a response, libcurl
    /// automatically sends the request again, with any method. It cannot read the body again and hangs. With a new
    /// connection it does not.
    private func unpooled() -> URLSession {
        URLSession(configuration: configuration, delegate: delegate, delegateQueue: delegateQueue)
    }
}

extension ResponseHead {
    /// Creates the head of a response. A response of another protocol than HTTP is returned.
    fileprivate init(_ response: URLResponse, _ watch: RedirectWatch) {
        let response = response as? HTTPURLResponse
        let hasDeclined = watch.hasDeclined
        self.init(status: response?.statusCode ?? 200) { name in
            hasDeclined && name == "Location" ? nil : response?.value(forHTTPHeaderField: name)
        }
    }
}

extension URLSession {
    /// Runs the task of one attempt with a separate delegate, because the asynchronous functions on Linux do not call
    /// the session's delegate. The task is cancelled together with the calling task.
    ///
    /// - Parameters:
    ///   - watch: Stops redirects.
    ///   - make: Creates the task. The task calls the argument when it ends.
    func run<Value: Sendable>(
        _ watch: RedirectWatch,
        _ make: (@escaping @Sendable (Value?, URLResponse?, (any Error)?) -> Void) -> URLSessionTask
    ) async throws -> (Value, URLResponse) {
        let state = Locked<(task: URLSessionTask?, isCancelled: Bool)>((nil, false))
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let task = make { value, response, error in
                    guard let value, let response else {
                        return continuation.resume(throwing: error ?? URLError(.badServerResponse))
                    }
                    continuation.resume(returning: (value, response))
                }
                task.delegate = watch
                let isCancelled = state.withLock { state in
                    state.task = task
                    return state.isCancelled
                }
                task.resume()
                if isCancelled { task.cancel() }
            }
        } onCancel: {
            let task = state.withLock { state in
                state.isCancelled = true
                return state.task
            }
            task?.cancel()
        }
    }

    /// Runs a download like ``run(_:_:)``, and moves the downloaded file so that it is kept.
    func runDownload(_ request: URLRequest, _ watch: RedirectWatch) async throws -> (URL, URLResponse) {
        try await run(watch) { end in
            downloadTask(with: request) { file, response, error in
                guard let file else { return end(nil, response, error) }
                let kept = FileManager.default.temporaryDirectory.appendingPathComponent(
                    "download-\(UUID().uuidString)"
                )
                do {
                    try FileManager.default.moveItem(at: file, to: kept)
                    end(kept, response, error)
                } catch {
                    end(nil, response, error)
                }
            }
        }
    }
}

/// A delegate of one task, in front of the session's delegate. A redirect ends the task and is its response, because
/// each hop is a separate request. All other calls are forwarded to the session's delegate, which may also decline a
/// redirect.
final class RedirectWatch: NSObject, URLSessionTaskDelegate {
    private let inner: (any URLSessionTaskDelegate)?
    private let state = Locked(false)

    init(before inner: (any URLSessionTaskDelegate)?) {
        self.inner = inner
    }

    /// A Boolean value that indicates whether the session's delegate has declined a redirect.
    var hasDeclined: Bool { state.withLock { $0 } }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard let inner else { return completionHandler(nil) }
        inner.urlSession(session, task: task, willPerformHTTPRedirection: response, newRequest: request) {
            [state] answer in
            state.withLock { $0 = answer == nil }
            completionHandler(nil)
        }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let inner else { return completionHandler(.performDefaultHandling, nil) }
        inner.urlSession(session, task: task, didReceive: challenge, completionHandler: completionHandler)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        guard let inner else { return completionHandler(task.originalRequest?.httpBodyStream) }
        inner.urlSession(session, task: task, needNewBodyStream: completionHandler)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        inner?.urlSession(
            session,
            task: task,
            didSendBodyData: bytesSent,
            totalBytesSent: totalBytesSent,
            totalBytesExpectedToSend: totalBytesExpectedToSend
        )
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        inner?.urlSession(session, task: task, didCompleteWithError: error)
    }
}

extension URLRequest {
    /// The request in the form that adapters use.
    var plain: RequestHead {
        let fields = (allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }
        return RequestHead(
            method: RequestMethod(rawValue: httpMethod ?? "GET"),
            url: url?.absoluteString ?? "",
            fields: fields.map { RequestHead.Field(name: $0.key, value: $0.value) }
        )
    }

    /// Returns the request of a hop with the changes of an adapter.
    ///
    /// - Throws: `URLError.badURL` if its URL is invalid.
    func adapted(to hop: RedirectHop, timeout: Duration?) throws -> URLRequest {
        let plain = hop.traced
        guard let url = URL(string: plain.url) else { throw URLError(.badURL) }
        var request = self
        if !hop.hasBody { (request.httpBody, request.httpBodyStream) = (nil, nil) }
        request.url = url
        request.httpMethod = plain.method.rawValue
        request.allHTTPHeaderFields = nil
        for field in plain.fields { request.addValue(field.value, forHTTPHeaderField: field.name) }
        if let timeout { request.timeoutInterval = timeout / .seconds(1) }
        return request
    }
}
