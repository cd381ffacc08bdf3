public import FoundationEssentials
public import ReachabilityRequests
public import ReachabilityRetry

extension PlainRequest {
    /// A GET request.
    public init(url: URL) { self.init(url: url.absoluteString) }
}

extension Session {
    /// A request without a body. It is sent at once, unless the session says otherwise.
    @discardableResult
    public func request(
        _ urlRequest: PlainRequest,
        interceptor: (any ReachabilityRetry.RequestInterceptor)? = nil
    ) -> DataRequest {
        let outgoing = OutgoingRequest(url: urlRequest.url, method: urlRequest.method, headers: urlRequest.headers)
        return request(outgoing, interceptor: interceptor)
    }

    /// A request. It is sent at once, unless the session says otherwise.
    @discardableResult
    public func request(
        _ url: URL,
        method: HTTPMethod = .get,
        headers: HTTPHeaders = HTTPHeaders(),
        interceptor: (any ReachabilityRetry.RequestInterceptor)? = nil
    ) -> DataRequest {
        request(url.absoluteString, method: method, headers: headers, interceptor: interceptor)
    }
}

extension SessionRetrier {
    /// Asks about a request that was not sent, or has ended, as one that has failed with this error.
    public func retry(
        _ request: DataRequest,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        let stage = (error as? AFError)?.responseCode.map { FailureStage.answered(status: $0) }
        let failed = FailedRequest(request: request.request.plain, retryCount: request.retryCount, stage: stage)
        retry(failed, for: session, dueTo: error, completion: completion)
    }
}
