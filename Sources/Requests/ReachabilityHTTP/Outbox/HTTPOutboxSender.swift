#if Outbox
public import AsyncHTTPClient
import NIOCore
import NIOHTTP1
public import ReachabilityOutbox
public import ReachabilityRetry

/// Sends what is in an outbox with async-http-client: one attempt each time, which is cut where its path goes away before it is sent. When
/// that attempt is made is decided by the run of the engine that the outbox feeds, so nothing waits here before it, and nothing is counted.
///
/// ```swift
/// let sender = HTTPOutboxSender(client: .shared, adapter: Adapter { request, completion in
///     var request = request
///     request["Authorization"] = "Bearer \(tokens.current)"
///     completion(.success(request))
/// })
/// try await outbox.run(sender: sender)
/// ```
///
/// Redirects are not followed: what leads elsewhere may be a portal (see `OutboxResult`).
///
/// | What happened | Then |
/// |---|---|
/// | an answer | as its status says |
/// | the path went away and did not come back within the limit, the adapter failed, TLS was refused, a proxy let nothing through | held: no attempt |
/// | the client cannot send such a request at all | rejected |
/// | anything else, for example no connection or no answer in time | tried again |
public struct HTTPOutboxSender: OutboxSender {
    private let client: HTTPClient
    private let settings: ClientSettings
    private let options: RequestRetryOptions
    private let policy: RetryPolicy

    /// A sender; it may be used by several outboxes.
    ///
    /// - Parameters:
    ///   - client: What sends. It is not shut down.
    ///   - adapter: Changes each request right before it is sent, and what it adds is never written to the file: credentials belong
    ///     here. It must leave the header Idempotency-Key alone. When it throws the request waits.
    ///   - limit: How long sending may take until the answer's head is there; at least 1 ms.
    ///   - coordinator: What is shared with other requests.
    public init(
        client: HTTPClient,
        adapter: (any RequestAdapter)? = nil,
        limit: Duration = .seconds(60),
        coordinator: RetryCoordinator
    ) {
        self.client = client
        settings = ClientSettings(client)
        options = RequestRetryOptions(adapter: adapter, redirects: RedirectRule.none, coordinator: coordinator)
        let standard = RetryPolicy.standard
        policy = RetryPolicy(
            checkedDeadline: max(limit, .milliseconds(1)),
            attempts: 1,
            attemptsAfterSending: 1,
            attemptsUnresolved: 1,
            backoff: standard.backoff,
            retryAfterCap: standard.retryAfterCap,
            statuses: standard.statuses,
            methods: nil,
            waitsFirst: false,
            classify: standard.classify
        )
    }

    /// Sends it once.
    public func send(_ delivery: OutboxDelivery) async -> OutboxResult {
        do {
            let request = HTTPClientRequest(delivery.request)
            let parsed = try HTTPClient.Request.checked(request, options)
            let answer = try await client.retried(
                request,
                parsed,
                settings,
                policy,
                options,
                nil,
                nil,
                letGo: { await $0.discard() },
                read: { $0 }
            ).once(isProbe: delivery.isProbe)
            await answer.discard()
            return OutboxResult(
                status: Int(answer.status.code),
                retryAfter: answer.headers.first(name: "Retry-After"),
                attempts: delivery.entry.attempts
            )
        } catch {
            return OutboxResult(error)
        }
    }
}

extension HTTPClientRequest {
    /// A request of an outbox.
    fileprivate init(_ request: OutboxRequest) {
        self.init(url: request.url)
        method = HTTPMethod(rawValue: request.method)
        for header in request.headers { headers.add(name: header.name, value: header.value) }
        if !request.body.isEmpty { body = .bytes(ByteBuffer(bytes: request.body)) }
    }
}

#if Netlink
extension HTTPOutboxSender {
    /// As ``init(client:adapter:limit:coordinator:)`` with `RetryCoordinator.shared`, which waits for the kernel's word.
    public init(client: HTTPClient, adapter: (any RequestAdapter)? = nil, limit: Duration = .seconds(60)) {
        self.init(client: client, adapter: adapter, limit: limit, coordinator: .shared)
    }
}
#endif
#endif
