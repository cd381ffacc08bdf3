#if Netlink
public import AsyncHTTPClient
public import ReachabilityRetry

extension Session {
    /// A session with each retry setting's default, which waits for the kernel's word.
    public convenience init(
        client: HTTPClient = .shared,
        retry policy: RetryPolicy = .standard,
        interceptor: (any RequestInterceptor)? = nil,
        headers: HTTPHeaders = HTTPHeaders(),
        limits: ResponseLimits = ResponseLimits(),
        eventMonitors: [any EventMonitor] = []
    ) {
        self.init(
            client: client,
            retry: policy,
            options: RequestRetryOptions(),
            interceptor: interceptor,
            headers: headers,
            limits: limits,
            eventMonitors: eventMonitors
        )
    }
}
#endif
