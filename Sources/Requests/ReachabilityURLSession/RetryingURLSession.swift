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

/// URLSession, all of whose requests are retried in the same way.
public typealias RetryingURLSession = RetryingClient<URLSession>

extension RetryingURLSession {
    /// What sends.
    public var session: URLSession { client }

    /// As `URLSession.data(for:retry:options:)`, with the session's settings.
    public func data(for request: URLRequest) async throws(RetryError) -> RetryOutcome<(Data, URLResponse)> {
        try await client.data(for: request, retry: settings.policy, options: settings.options)
    }

    /// As `URLSession.upload(for:from:retry:options:)`, with the session's settings.
    public func upload(
        for request: URLRequest,
        from data: Data
    ) async throws(RetryError) -> RetryOutcome<(Data, URLResponse)> {
        try await client.upload(for: request, from: data, retry: settings.policy, options: settings.options)
    }

    /// As `URLSession.upload(for:fromFile:retry:options:)`, with the session's settings.
    public func upload(
        for request: URLRequest,
        fromFile file: URL
    ) async throws(RetryError) -> RetryOutcome<(Data, URLResponse)> {
        try await client.upload(for: request, fromFile: file, retry: settings.policy, options: settings.options)
    }

    /// As `URLSession.download(for:retry:options:)`, with the session's settings.
    public func download(for request: URLRequest) async throws(RetryError) -> RetryOutcome<(URL, URLResponse)> {
        try await client.download(for: request, retry: settings.policy, options: settings.options)
    }
}
