import Foundation
import FoundationNetworking
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
