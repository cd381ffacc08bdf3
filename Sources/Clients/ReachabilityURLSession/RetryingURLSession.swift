public import Foundation
public import FoundationNetworking
public import ReachabilityRetry

extension URLSession {
    /// The session with retry settings for all requests that are sent with it.
    ///
    /// ```swift
    /// let session = URLSession.shared.retrying(settings)
    /// let outcome = try await session.data(for: URLRequest(url: url))
    /// ```
    public func retrying(_ settings: RetrySettings) -> RetryingURLSession {
        RetryingURLSession(session: self, settings: settings)
    }
}

/// A URLSession with settings for retries. The session stays the caller's.
public struct RetryingURLSession: Sendable {
    /// Sends the requests.
    public let session: URLSession
    /// When and how requests are sent again.
    public let settings: RetrySettings

    /// The same session with other settings.
    public func overriding(_ change: (inout RetrySettings) throws -> Void) rethrows -> RetryingURLSession {
        RetryingURLSession(session: session, settings: try settings.overriding(change))
    }

    /// As `URLSession.data(for:retry:options:)`, with the session's settings.
    public func data(for request: URLRequest) async throws(RetryError) -> RetryOutcome<(Data, URLResponse)> {
        try await session.data(for: request, retry: settings.policy, options: settings.options)
    }

    /// As `URLSession.upload(for:from:retry:options:)`, with the session's settings.
    public func upload(
        for request: URLRequest,
        from data: Data
    ) async throws(RetryError) -> RetryOutcome<(Data, URLResponse)> {
        try await session.upload(for: request, from: data, retry: settings.policy, options: settings.options)
    }

    /// As `URLSession.upload(for:fromFile:retry:options:)`, with the session's settings.
    public func upload(
        for request: URLRequest,
        fromFile file: URL
    ) async throws(RetryError) -> RetryOutcome<(Data, URLResponse)> {
        try await session.upload(for: request, fromFile: file, retry: settings.policy, options: settings.options)
    }

    /// As `URLSession.download(for:retry:options:)`, with the session's settings.
    public func download(for request: URLRequest) async throws(RetryError) -> RetryOutcome<(URL, URLResponse)> {
        try await session.download(for: request, retry: settings.policy, options: settings.options)
    }
}

extension URLSession {
    /// Sends a request, and sends it again when that makes sense: not while the network is away, but for a probe after a
    /// minute, at once when it is back, and never twice what must not be done twice.
    ///
    /// ```swift
    /// guard let url = URL(string: "https://example.org/") else { return }
    /// let outcome = try await URLSession.shared.data(for: URLRequest(url: url), retry: .standard)
    /// let (data, response) = outcome.value
    /// ```
    ///
    /// What is retried is in the tables of `RetryPolicy`. URLSession reads an answer to its end before it tells of it;
    /// that of one that is retried is thrown away. A body that breaks off is a failed attempt.
    ///
    /// A request that must not be repeated, or that has a body, gets a session of its own for each attempt, with the same
    /// configuration and delegate: where a connection that was used before breaks, URLSession on Linux sends a request a second time
    /// without being asked, and with a body it then hangs. The delegate is told when such a session becomes invalid.
    ///
    /// - Parameters:
    ///   - request: What to send; method, idempotency key and host decide how it is retried. A body that is a stream is read once.
    ///   - policy: When to try again.
    ///   - options: Adapter, timeout of an attempt (the `timeoutInterval`, which begins anew with each part of the answer), priority,
    ///     coordinator, clock.
    /// - Returns: The answer, whatever its status: one that is not to be retried, or the last one where no retry is allowed any
    ///   more; and every attempt.
    /// - Throws: `RetryError`, with every attempt.
    public func data(
        for request: URLRequest,
        retry policy: RetryPolicy,
        options: RequestRetryOptions = RequestRetryOptions()
    ) async throws(RetryError) -> RetryOutcome<(Data, URLResponse)> {
        let hasBody = request.httpBody != nil || request.httpBodyStream != nil
        return try await retry(request, policy, options, hasBody: hasBody) { session, request, watch, _ in
            try await session.run(watch) { session.dataTask(with: request, completionHandler: $0) }
        }
    }

    /// Uploads data, as ``data(for:retry:options:)``.
    ///
    /// - Parameters:
    ///   - request: What to send; method, idempotency key and host decide how it is retried.
    ///   - data: The body, sent whole with each attempt.
    ///   - policy: When to try again.
    ///   - options: Adapter, timeout of an attempt, priority, coordinator, clock.
    public func upload(
        for request: URLRequest,
        from data: Data,
        retry policy: RetryPolicy,
        options: RequestRetryOptions = RequestRetryOptions()
    ) async throws(RetryError) -> RetryOutcome<(Data, URLResponse)> {
        try await retryUpload(of: request, policy, options) { session, request, done in
            session.uploadTask(with: request, from: data, completionHandler: done)
        }
    }

    /// Uploads a file, as ``data(for:retry:options:)``.
    ///
    /// - Parameters:
    ///   - request: What to send; method, idempotency key and host decide how it is retried.
    ///   - file: The body, read from its beginning for each attempt. It must not change meanwhile.
    ///   - policy: When to try again.
    ///   - options: Adapter, timeout of an attempt, priority, coordinator, clock.
    public func upload(
        for request: URLRequest,
        fromFile file: URL,
        retry policy: RetryPolicy,
        options: RequestRetryOptions = RequestRetryOptions()
    ) async throws(RetryError) -> RetryOutcome<(Data, URLResponse)> {
        try await retryUpload(of: request, policy, options) { session, request, done in
            session.uploadTask(with: request, fromFile: file, completionHandler: done)
        }
    }

    /// Downloads into a file, as ``data(for:retry:options:)``.
    ///
    /// - Returns: A temporary file, which is the caller's to move or to delete; and every attempt. The files of attempts that were
    ///   retried are deleted.
    public func download(
        for request: URLRequest,
        retry policy: RetryPolicy,
        options: RequestRetryOptions = RequestRetryOptions()
    ) async throws(RetryError) -> RetryOutcome<(URL, URLResponse)> {
        let letGo: @Sendable (URL) async -> Void = { try? FileManager.default.removeItem(at: $0) }
        let hasBody = request.httpBody != nil || request.httpBodyStream != nil
        return try await retry(request, policy, options, hasBody: hasBody, letGo: letGo) {
            session,
            request,
            watch,
            _ in
            try await session.runDownload(request, watch)
        }
    }

    /// - Parameter upload: Makes the task of an attempt that has the body: not one after a redirect that dropped it.
    private func retryUpload(
        of request: URLRequest,
        _ policy: RetryPolicy,
        _ options: RequestRetryOptions,
        upload:
            @escaping @Sendable (
                URLSession, URLRequest, @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
            ) -> URLSessionTask
    ) async throws(RetryError) -> RetryOutcome<(Data, URLResponse)> {
        try await retry(request, policy, options, hasBody: true) { session, request, watch, hasBody in
            try await session.run(watch) { done in
                hasBody
                    ? upload(session, request, done) : session.dataTask(with: request, completionHandler: done)
            }
        }
    }
}
