public import Foundation
public import FoundationNetworking
public import ReachabilityRetry

extension URLSession {
    /// Returns the session with retry settings that apply to all requests sent with it.
    ///
    /// ```swift
    /// let session = URLSession.shared.retrying(settings)
    /// let outcome = try await session.data(for: URLRequest(url: url))
    /// ```
    public func retrying(_ settings: RetrySettings) -> RetryingURLSession {
        RetryingURLSession(session: self, settings: settings)
    }
}

/// A URLSession with retry settings. The caller remains the owner of the session.
public struct RetryingURLSession: Sendable {
    /// The session that sends the requests.
    public let session: URLSession
    /// The retry policy and options.
    public let settings: RetrySettings

    /// Returns a copy with other settings for the same session.
    public func overriding(_ change: (inout RetrySettings) throws -> Void) rethrows -> RetryingURLSession {
        RetryingURLSession(session: session, settings: try settings.overriding(change))
    }

    /// Sends a request like `URLSession.data(for:retry:options:)`, with the session's settings.
    public func data(for request: URLRequest) async throws(RetryError) -> RetryOutcome<(Data, URLResponse)> {
        try await session.data(for: request, retry: settings.policy, options: settings.options)
    }

    /// Uploads data like `URLSession.upload(for:from:retry:options:)`, with the session's settings.
    public func upload(
        for request: URLRequest,
        from data: Data
    ) async throws(RetryError) -> RetryOutcome<(Data, URLResponse)> {
        try await session.upload(for: request, from: data, retry: settings.policy, options: settings.options)
    }

    /// Uploads a file like `URLSession.upload(for:fromFile:retry:options:)`, with the session's settings.
    public func upload(
        for request: URLRequest,
        fromFile file: URL
    ) async throws(RetryError) -> RetryOutcome<(Data, URLResponse)> {
        try await session.upload(for: request, fromFile: file, retry: settings.policy, options: settings.options)
    }

    /// Downloads a file like `URLSession.download(for:retry:options:)`, with the session's settings.
    public func download(for request: URLRequest) async throws(RetryError) -> RetryOutcome<(URL, URLResponse)> {
        try await session.download(for: request, retry: settings.policy, options: settings.options)
    }
}

extension URLSession {
    /// Sends a request, and retries it if that is useful and safe. While the network is down, only probes are made, the
    /// first after a minute. When the network is back, the retry starts immediately. A request that is not safe to
    /// repeat is never repeated after it may have been processed.
    ///
    /// ```swift
    /// guard let url = URL(string: "https://example.org/") else { return }
    /// let outcome = try await URLSession.shared.data(for: URLRequest(url: url), retry: .standard)
    /// let (data, response) = outcome.value
    /// ```
    ///
    /// The tables of `RetryPolicy` define which failures are retried. URLSession reads a response to its end before it
    /// reports it. The body of a response that is retried is discarded. An incomplete body is a failed attempt.
    ///
    /// A request that must not be repeated, or that has a body, uses a separate session for each attempt, with the same
    /// configuration and delegate. Otherwise, if a reused connection breaks, URLSession on Linux automatically sends
    /// the request again, and hangs if it has a body. The delegate is notified when such a session becomes invalid.
    ///
    /// - Parameters:
    ///   - request: The request. Its method, idempotency key and host determine how it is retried. A body stream can be
    ///     read only once.
    ///   - policy: The rules for retries.
    ///   - options: The options. `attemptTimeout` is used as the `timeoutInterval` of each attempt, which starts again
    ///     with each received part of the response. `connectTimeout` has no effect.
    /// - Returns: The response, whatever its status, and every attempt. It is one that is not retried, or the last one
    ///   if no further retry is permitted.
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

    /// Uploads data. Retries like ``data(for:retry:options:)``.
    ///
    /// - Parameters:
    ///   - request: The request. Its method, idempotency key and host determine how it is retried.
    ///   - data: The body, sent completely with each attempt.
    ///   - policy: The rules for retries.
    ///   - options: The options.
    /// - Returns: The response, whatever its status, and every attempt.
    /// - Throws: `RetryError`, with every attempt.
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

    /// Uploads a file. Retries like ``data(for:retry:options:)``.
    ///
    /// - Parameters:
    ///   - request: The request. Its method, idempotency key and host determine how it is retried.
    ///   - file: The body, read from its beginning for each attempt. It must not change meanwhile.
    ///   - policy: The rules for retries.
    ///   - options: The options.
    /// - Returns: The response, whatever its status, and every attempt.
    /// - Throws: `RetryError`, with every attempt.
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

    /// Downloads a response into a file. Retries like ``data(for:retry:options:)``.
    ///
    /// - Returns: A temporary file, which the caller must move or delete, and every attempt. The files of attempts that
    ///   were retried are deleted.
    /// - Throws: `RetryError`, with every attempt.
    public func download(
        for request: URLRequest,
        retry policy: RetryPolicy,
        options: RequestRetryOptions = RequestRetryOptions()
    ) async throws(RetryError) -> RetryOutcome<(URL, URLResponse)> {
        let release: @Sendable (URL) async -> Void = { try? FileManager.default.removeItem(at: $0) }
        let hasBody = request.httpBody != nil || request.httpBodyStream != nil
        return try await retry(request, policy, options, hasBody: hasBody, release: release) {
            session,
            request,
            watch,
            _ in
            try await session.runDownload(request, watch)
        }
    }

    /// Uploads a body with retries.
    ///
    /// - Parameter upload: Creates the task of an attempt with the body. It is not used after a redirect that dropped
    ///   the body.
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
