#if Netlink && Outbox
public import AsyncHTTPClient
public import ReachabilityRetry

extension HTTPOutboxSender {
    /// As ``init(client:adapter:limit:coordinator:)`` with `RetryCoordinator.shared`, which waits for the kernel's word.
    public init(client: HTTPClient, adapter: (any RequestAdapter)? = nil, limit: Duration = .seconds(60)) {
        self.init(client: client, adapter: adapter, limit: limit, coordinator: .shared)
    }
}
#endif
