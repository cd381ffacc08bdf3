public import Foundation
public import FoundationNetworking
public import ReachabilityRetry

extension URLSession {
    /// The session with settings of its own for retries, which hold for each request that is sent with it.
    ///
    /// ```swift
    /// let session = URLSession.shared.retrying(settings)
    /// let outcome = try await session.data(for: URLRequest(url: url))
    /// ```
    public func retrying(_ settings: RetrySettings) -> RetryingURLSession { RetryingURLSession(self, settings) }
}

/// A session whose requests are all retried in the same way. A value; the session behind it stays the caller's.
public struct RetryingURLSession: Sendable {
    /// What sends.
    public let session: URLSession
    /// When and how requests are sent again.
    public let settings: RetrySettings

    fileprivate init(_ session: URLSession, _ settings: RetrySettings) {
        self.session = session
        self.settings = settings
    }

    /// The same session with other settings: for one request, or for many.
    public func overriding(_ change: (inout RetrySettings) throws -> Void) rethrows -> RetryingURLSession {
        RetryingURLSession(session, try settings.overriding(change))
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
