import ReachabilityRetry

/// Puts a bearer token (RFC 6750) into each request, `Session(interceptor: TokenInterceptor(token: "…") { … })` for example. When the
/// server answers 401 it fetches another, once for all requests that were sent with the old one, and they are sent again.
public actor TokenInterceptor: RequestInterceptor {
    private var token: String
    private let refresh: @Sendable (String) async throws -> String
    private var refreshing: Task<Void, any Error>?

    /// - Parameters:
    ///   - token: The token to begin with.
    ///   - refresh: Fetches a new one, given the one that was refused.
    public init(token: String, refresh: @escaping @Sendable (String) async throws -> String) {
        self.token = token
        self.refresh = refresh
    }

    /// The request with the token there is.
    public func adapt(_ request: PlainRequest) async throws -> PlainRequest {
        var request = request
        request["Authorization"] = "Bearer \(token)"
        return request
    }

    /// A retry with another token after a 401; the refresh's error where there is none to be had.
    public func retry(_ request: FailedRequest, dueTo error: any Error) async -> RetryResult {
        // A second 401, with a token that has just been fetched, is an answer.
        guard request.status == 401, request.retryCount == 0 else { return .doNotRetry }
        // Somebody has fetched one since this request was sent.
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
