public import ReachabilityRetry

extension Session {
    /// A request whose answer is read as it comes; sent when the first piece is asked for.
    ///
    /// - Parameters:
    ///   - request: What is sent.
    ///   - interceptor: Asked before the session's own.
    public func streamRequest(
        _ request: OutgoingRequest,
        interceptor: (any RequestInterceptor)? = nil
    ) -> DataStreamRequest {
        DataStreamRequest(request, in: self, interceptor)
    }

    /// A request whose answer is read as it comes; sent when the first piece is asked for.
    ///
    /// - Parameters:
    ///   - url: The URL as text.
    ///   - method: The method.
    ///   - headers: Its own header fields.
    ///   - interceptor: Asked before the session's own.
    public func streamRequest(
        _ url: String,
        method: HTTPMethod = .get,
        headers: HTTPHeaders = HTTPHeaders(),
        interceptor: (any RequestInterceptor)? = nil
    ) -> DataStreamRequest {
        streamRequest(OutgoingRequest(url: url, method: method, headers: headers), interceptor: interceptor)
    }
}
