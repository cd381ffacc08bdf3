import AsyncHTTPClient
import NIOHTTP1
import NIOHTTP2
import ReachabilityRetry

extension HTTPClientRequest {
    /// As adapters see it.
    var plain: PlainRequest { PlainRequest(method: method, url: url, headers: headers) }

    /// The request as an adapter wants it.
    func adapted(to plain: PlainRequest) -> HTTPClientRequest {
        var request = self
        request.url = plain.url
        request.method = HTTPMethod(rawValue: plain.method.rawValue)
        request.headers = plain.headers
        return request
    }

    /// The request with what retries it.
    func retried<Value>(
        _ policy: ReachabilityRetryPolicy,
        _ options: RequestRetryOptions,
        _ makeBody: (@Sendable () throws -> Body)?,
        letGo: @escaping @Sendable (Value) async -> Void,
        send: @escaping @Sendable (HTTPClientRequest) async throws -> ClientAnswer<Value>
    ) throws(RetryError) -> RetriedRequest<Value> {
        let parsed = try HTTPClient.Request.checked(url, options)
        let isOnce = makeBody == nil && body?.isReplayable == false
        return RetriedRequest(
            plain,
            host: parsed.reachableHost,
            policy: policy,
            options: options,
            isBodyLost: { isOnce && Self.hasBegunBody($0) },
            letGo: letGo,
            send: { plain in
                var request = adapted(to: plain)
                if let makeBody { request.body = try AdapterFailure.wrapping(makeBody) }
                return try await send(request)
            }
        )
    }

    /// Whether a body that is read once has been begun by an attempt that failed so: it is unless there was no connection.
    static func hasBegunBody(_ error: any Error) -> Bool {
        if let error = error as? HTTPClientError { return error.mayFollowBody }
        if error is NIOHTTP2Errors.StreamClosed { return true }
        if error is AdapterFailure { return false }
        return (error as? any RetryableError)?.failureStage != .neverSent
    }
}
