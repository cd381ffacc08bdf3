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
