import Foundation
import FoundationNetworking
import ReachabilityRetry

extension URLSession {
    /// Sends a request until there is an answer to keep.
    ///
    /// - Parameters:
    ///   - hasBody: Whether it has a body, be it its own or one that is uploaded.
    ///   - letGo: Lets go of what an attempt has brought that is to be retried.
    ///   - send: Makes one attempt in a session.
    func retry<Value: Sendable>(
        _ request: URLRequest,
        _ policy: ReachabilityRetryPolicy,
        _ options: RequestRetryOptions,
        hasBody: Bool,
        letGo: @escaping @Sendable (Value) async -> Void = { _ in },
        send:
            @escaping @Sendable (URLSession, URLRequest, RedirectWatch) async throws -> (
                Value, URLResponse
            )
    ) async throws(RetryError) -> RetryOutcome<(Value, URLResponse)> {
        let isOnce = request.httpBodyStream != nil
        let isRepeatable = request.plain.method.isIdempotent || request.plain.idempotencyKey != nil
        let retried = RetriedRequest<(Value, URLResponse)>(
            request.plain,
            host: request.url?.host,
            policy: policy,
            options: options,
            isBodyLost: { isOnce && !($0 is AdapterFailure) },
            letGo: { await letGo($0.0) },
            send: { plain, progress in
                progress.send()
                let adapted = try AdapterFailure.wrapping {
                    try request.adapted(to: plain, timeout: options.attemptTimeout)
                }
                let session = isRepeatable && !hasBody ? self : self.unpooled()
                defer { if session !== self { session.finishTasksAndInvalidate() } }
                let watch = RedirectWatch(progress, before: session.delegate as? any URLSessionTaskDelegate)
                do {
                    return ClientAnswer(try await send(session, adapted, watch))
                } catch let error as URLError where error.code == .cancelled && Task.isCancelled {
                    throw CancellationError()
                }
            }
        )
        return try await retried.run().outcome
    }

    /// A session that has no connection yet. libcurl sends a request again by itself, whatever its method, where a connection that
    /// was used before breaks without an answer, and then has no body for it and hangs; on a new connection it does not.
    private func unpooled() -> URLSession {
        URLSession(configuration: configuration, delegate: delegate, delegateQueue: delegateQueue)
    }
}

extension ClientAnswer {
    /// An answer; one that is not of HTTP is kept.
    fileprivate init<Content>(_ answer: (Content, URLResponse)) where Value == (Content, URLResponse) {
        let response = answer.1 as? HTTPURLResponse
        self.init(
            answer,
            status: response?.statusCode ?? 200,
            retryAfter: response?.value(forHTTPHeaderField: "Retry-After"),
            date: response?.value(forHTTPHeaderField: "Date")
        )
    }
}
