public import Foundation
public import FoundationNetworking
public import ReachabilityRetry

extension URLSession {
    /// As ``data(for:retry:options:)``, with each setting's default, which waits for the kernel's word.
    public func data(
        for request: URLRequest,
        retry policy: RetryPolicy
    ) async throws(RetryError) -> RetryOutcome<(Data, URLResponse)> {
        try await data(for: request, retry: policy, options: RequestRetryOptions())
    }

    /// As ``upload(for:from:retry:options:)``, with each setting's default, which waits for the kernel's word.
    public func upload(
        for request: URLRequest,
        from data: Data,
        retry policy: RetryPolicy
    ) async throws(RetryError) -> RetryOutcome<(Data, URLResponse)> {
        try await upload(for: request, from: data, retry: policy, options: RequestRetryOptions())
    }

    /// As ``upload(for:fromFile:retry:options:)``, with each setting's default, which waits for the kernel's word.
    public func upload(
        for request: URLRequest,
        fromFile file: URL,
        retry policy: RetryPolicy
    ) async throws(RetryError) -> RetryOutcome<(Data, URLResponse)> {
        try await upload(for: request, fromFile: file, retry: policy, options: RequestRetryOptions())
    }

    /// As ``download(for:retry:options:)``, with each setting's default, which waits for the kernel's word.
    public func download(
        for request: URLRequest,
        retry policy: RetryPolicy
    ) async throws(RetryError) -> RetryOutcome<(URL, URLResponse)> {
        try await download(for: request, retry: policy, options: RequestRetryOptions())
    }
}
