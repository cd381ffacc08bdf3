#if Outbox
public import AsyncHTTPClient
import NIOCore
import LinuxPrimitives
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
/// TLS proves that the server has answered. Over `http` a portal may answer with 200 in its place, so a success counts only with a
/// ``DeliveryProof``, or, without one, if the same host refuses a URL that does not exist: a portal answers for every URL. A
/// loopback address needs no proof.
///
/// | What happened | Then |
/// |---|---|
/// | an answer | as its status says |
/// | the path went away and did not come back within the limit, the adapter failed, TLS was refused, a proxy let nothing through | held: no attempt |
/// | a success without proof that it is the server's | held: no attempt |
/// | the client cannot send such a request at all | rejected |
/// | anything else, for example no connection or no answer in time | tried again |
public struct HTTPOutboxSender: OutboxSender {
    private let client: HTTPClient
    private let settings: ClientSettings
    private let options: RequestRetryOptions
    private let policy: RetryPolicy
    private let proof: DeliveryProof?

    /// A sender; it may be used by several outboxes.
    ///
    /// - Parameters:
    ///   - client: What sends. It is not shut down.
    ///   - adapter: Changes each request right before it is sent, and what it adds is never written to the file: credentials belong
    ///     here. It must leave the header Idempotency-Key alone. When it throws the request waits.
    ///   - limit: How long sending may take until the answer's head is there; at least 1 ms.
    ///   - proof: What a success must have to be the server's own, whatever the scheme.
    ///   - coordinator: What is shared with other requests.
    public init(
        client: HTTPClient,
        adapter: (any RequestAdapter)? = nil,
        limit: Duration = .seconds(60),
        proof: DeliveryProof? = nil,
        coordinator: RetryCoordinator
    ) {
        self.client = client
        self.proof = proof
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
            let answer = try await send(HTTPClientRequest(delivery.request), options, isProbe: delivery.isProbe)
            let status = Int(answer.status.code)
            let result = OutboxResult(
                status: status,
                retryAfter: answer.headers.first(name: "Retry-After"),
                attempts: delivery.entry.attempts
            )
            guard result == .delivered, let proof else {
                await answer.discard()
                return try await result == .delivered ? proven(delivery, status) : result
            }
            if await proof.isShown(by: answer) { return result }
            return .held(cause: "status \(status), but not the answer expected: perhaps a portal's")
        } catch {
            return OutboxResult(error)
        }
    }

    private func send(
        _ request: HTTPClientRequest,
        _ options: RequestRetryOptions,
        isProbe: Bool
    ) async throws(RetryError) -> HTTPClientResponse {
        let parsed = try HTTPClient.Request.checked(request, options)
        return try await client.retried(
            request,
            parsed,
            settings,
            policy,
            options,
            nil,
            nil,
            letGo: { await $0.discard() },
            read: { $0 }
        ).once(isProbe: isProbe)
    }

    /// What a success without a proof comes to: over `http`, a URL that cannot exist is requested from the same host.
    private func proven(_ delivery: OutboxDelivery, _ status: Int) async throws(RetryError) -> OutboxResult {
        guard let origin = delivery.request.unprotectedOrigin else { return .delivered }
        var generator = SystemRandomNumberGenerator()
        let name = String(generator.next(), radix: 16) + String(generator.next(), radix: 16)
        var request = HTTPClientRequest(url: "\(origin)/\(name)")
        request.method = HTTPMethod(rawValue: delivery.request.method)
        var plain = options
        plain.adapter = nil
        let answer = try await send(request, plain, isProbe: false)
        await answer.discard()
        let other = Int(answer.status.code)
        if 400..<500 ~= other, other != 407 { return .delivered }
        let remedy = "expect an answer that only the server gives"
        return .held(cause: "status \(status), but a URL that does not exist has status \(other): a portal? \(remedy)")
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
    /// As ``init(client:adapter:limit:proof:coordinator:)`` with `RetryCoordinator.shared`, which waits for the kernel's word.
    public init(
        client: HTTPClient,
        adapter: (any RequestAdapter)? = nil,
        limit: Duration = .seconds(60),
        proof: DeliveryProof? = nil
    ) {
        self.init(client: client, adapter: adapter, limit: limit, proof: proof, coordinator: .shared)
    }
}
#endif
#endif
