import ReachabilityRetry

/// Puts a bearer token (RFC 6750) into each request. When the server answers 401 it fetches another, once for all requests that
/// were sent with the old one, and retries them in the order in which they failed.
public final class TokenInterceptor: RequestInterceptor {
    private let store: TokenStore

    /// - Parameters:
    ///   - token: The token to begin with.
    ///   - refresh: Fetches a new one, given the one that was refused.
    public init(token: String, refresh: @escaping @Sendable (String) async throws -> String) {
        store = TokenStore(token, refresh)
    }

    /// The request with the token there is.
    public func adapt(_ request: PlainRequest) async throws -> PlainRequest {
        var request = request
        request["Authorization"] = "Bearer \(await store.token)"
        return request
    }

    /// A retry with another token after a 401; the refresh's error where there is none to be had.
    public func retry(_ request: FailedRequest, dueTo error: any Error) async -> RetryResult {
        // A second 401, with a token that has just been fetched, is an answer.
        guard request.status == 401, request.retryCount == 0, let field = request.request["Authorization"] else {
            return .doNotRetry
        }
        do {
            try await store.replace(String(field.dropFirst("Bearer ".count)))
            return .retry
        } catch {
            return .doNotRetryWithError(error)
        }
    }
}
