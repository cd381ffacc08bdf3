import ReachabilityRetry

/// Adds a bearer token (RFC 6750) to each request, for example `Session(interceptor: TokenInterceptor(token: "…") { … })`. After a 401
/// it fetches a new token, once for all requests with the old one, and the requests are repeated.
public actor TokenInterceptor: RequestInterceptor {
    private var token: String
    private let refresh: @Sendable (String) async throws -> String
    private var refreshing: Task<Void, any Error>?

    /// - Parameters:
    ///   - token: The first token.
    ///   - refresh: Fetches a new token. Its argument is the rejected token.
    public init(token: String, refresh: @escaping @Sendable (String) async throws -> String) {
        self.token = token
        self.refresh = refresh
    }

    /// Adds the current token.
    public func adapt(_ request: RequestHead) async throws -> RequestHead {
        var request = request
        request["Authorization"] = "Bearer \(token)"
        return request
    }

    /// Retries with a new token after a 401. If the refresh fails, the request fails with its error.
    public func retry(_ request: FailedRequest, dueTo error: any Error) async -> RetryResult {
        // A second 401 with the new token is an answer.
        guard request.status == 401, request.retryCount == 0 else { return .doNotRetry }
        // Another request has fetched a new token meanwhile.
        guard request.request["Authorization"] == "Bearer \(token)" else { return .retry }
        let task =
            refreshing
            ?? Task {
                defer { refreshing = nil }
                token = try await refresh(token)
            }
        refreshing = task
        do {
            try await task.value
            return .retry
        } catch {
            return .doNotRetryWithError(error)
        }
    }
}
