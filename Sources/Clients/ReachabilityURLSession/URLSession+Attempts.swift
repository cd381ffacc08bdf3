import Foundation
import FoundationNetworking
import LinuxSupport
import ReachabilityRetry

extension URLSession {
    /// Sends a request until there is an answer to keep.
    ///
    /// - Parameters:
    ///   - hasBody: Whether it has a body, be it its own or one that is uploaded.
    ///   - letGo: Lets go of what an attempt has brought that is to be retried.
    ///   - send: Makes one attempt in a session, with the body or, after a redirect, without.
    func retry<Value: Sendable>(
        _ request: URLRequest,
        _ policy: RetryPolicy,
        _ options: RequestRetryOptions,
        hasBody: Bool,
        letGo: @escaping @Sendable (Value) async -> Void = { _ in },
        send:
            @escaping @Sendable (URLSession, URLRequest, RedirectWatch, _ hasBody: Bool) async throws -> (
                Value, URLResponse
            )
    ) async throws(RetryError) -> RetryOutcome<(Value, URLResponse)> {
        let isOnce = request.httpBodyStream != nil
        var options = options
        // Its store of cookies may make another answer of the same place.
        options.redirects = options.redirects ?? .follow(allowsCycles: true)
        let retried = RetriedRequest<(Value, URLResponse)>(
            request.plain,
            host: request.url?.host,
            policy: policy,
            options: options,
            body: hasBody ? isOnce ? .once : .replayable : .none,
            isBodyLost: { error in
                if case .adapterFailed? = error as? AttemptError { false } else { isOnce }
            },
            letGo: { await letGo($0.0) },
            send: { [timeout = options.attemptTimeout, idempotency = options.idempotency] hop, progress in
                progress.send()
                let adapted = try AttemptError.preparing { try request.adapted(to: hop, timeout: timeout) }
                let isRepeatable = hop.request.method.isIdempotent || idempotency.hasKey(hop.request)
                let session = isRepeatable && !hop.hasBody ? self : self.unpooled()
                defer { if session !== self { session.finishTasksAndInvalidate() } }
                let watch = RedirectWatch(before: session.delegate as? any URLSessionTaskDelegate)
                do {
                    return ClientAnswer(try await send(session, adapted, watch, hop.hasBody), watch)
                } catch let error as URLError where error.code == .cancelled && Task.isCancelled {
                    throw CancellationError()
                }
            }
        )
        return try await retried.run()
    }

    /// A session that has no connection yet. libcurl sends a request again by itself, whatever its method, where a connection that
    /// was used before breaks without an answer, and then has no body for it and hangs; on a new connection it does not.
    private func unpooled() -> URLSession {
        URLSession(configuration: configuration, delegate: delegate, delegateQueue: delegateQueue)
    }
}

extension ClientAnswer {
    /// An answer; one that is not of HTTP is kept.
    fileprivate init<Content>(
        _ answer: (Content, URLResponse),
        _ watch: RedirectWatch
    ) where Value == (Content, URLResponse) {
        let response = answer.1 as? HTTPURLResponse
        let hasDeclined = watch.hasDeclined
        let head = AnswerHead(status: response?.statusCode ?? 200) { name in
            hasDeclined && name == "Location" ? nil : response?.value(forHTTPHeaderField: name)
        }
        self.init(answer, head)
    }
}

extension URLSession {
    /// Runs a task of one attempt with a delegate of its own, which the asynchronous functions on Linux do not ask; it is cancelled with the task it
    /// is called in.
    ///
    /// - Parameters:
    ///   - watch: Keeps redirects from being followed.
    ///   - make: Makes the task, which ends with its argument.
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

    /// As ``run(_:_:)``, with the file kept that a download is put into.
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

/// Stands before the session's delegate for one task: a redirect ends the task and is its answer, for where it leads is a request of its
/// own. All else is the session's delegate's, if it has one; it also says whether a redirect is to be followed.
final class RedirectWatch: NSObject, URLSessionTaskDelegate {
    private let inner: (any URLSessionTaskDelegate)?
    private let state = Locked(false)

    init(before inner: (any URLSessionTaskDelegate)?) {
        self.inner = inner
    }

    /// Whether the session's delegate does not want a redirect to be followed.
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
    /// As adapters see it.
    var plain: PlainRequest {
        let fields = (allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }
        return PlainRequest(
            method: RequestMethod(rawValue: httpMethod ?? "GET"),
            url: url?.absoluteString ?? "",
            fields: fields.map { PlainRequest.Field(name: $0.key, value: $0.value) }
        )
    }

    /// The request of a hop, as an adapter wants it.
    ///
    /// - Throws: `URLError.badURL` where its URL is none.
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
