import AsyncHTTPClient
import LinuxSupport
import NIOCore
import NIOHTTP1
import NIOSSL
public import ReachabilityHTTP
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
/// ``DeliveryProof``, or, without one, if the same host refuses a URL that does not exist, because a portal answers for every URL. If the
/// host answers that URL, too, a success counts if no server answers for addresses and names that no host has, because a portal does.
/// That takes up to two seconds. A loopback address needs no proof.
///
/// | What happened | Then |
/// |---|---|
/// | an answer | as its status says |
/// | the path went away and did not come back within the limit, the adapter failed, TLS was refused, a proxy let nothing through | held: no attempt |
/// | a success without proof that it is the server's | held: no attempt |
/// | the client cannot send such a request at all | rejected |
/// | anything else, for example no connection or no answer in time | tried again |
public struct HTTPOutboxSender: OutboxSender {
    private let client: RetryingHTTPClient
    private let options: RequestRetryOptions
    private let policy: RetryPolicy
    private let proof: DeliveryProof?
    /// Makes a name that no host and no resource has.
    var makeName: @Sendable () -> String = {
        UInt128.random(in: .min ... .max).hexadecimal
    }

    /// The maximum time in which an interceptor answers, long enough for a second SYN.
    private static let interceptionLimit = Duration.seconds(2)

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
        client: RetryingHTTPClient,
        adapter: (any RequestAdapter)? = nil,
        limit: Duration = .seconds(60),
        proof: DeliveryProof? = nil,
        coordinator: RetryCoordinator = .shared
    ) {
        self.client = client
        self.proof = proof
        options = RequestRetryOptions(adapter: adapter, redirects: RedirectRule.none, coordinator: coordinator)
        policy = Self.once(within: max(limit, .milliseconds(1)))
    }

    /// One attempt.
    private static func once(within limit: Duration) -> RetryPolicy {
        .standard.changing { policy in
            policy.deadline = limit
            policy.attempts = 1
        }
    }

    /// Sends it once.
    public func send(_ delivery: OutboxDelivery) async -> OutboxResult {
        do {
            let answer = try await send(HTTPClientRequest(delivery.request), policy, options, isProbe: delivery.isProbe)
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
        _ policy: RetryPolicy,
        _ options: RequestRetryOptions,
        isProbe: Bool
    ) async throws(RetryError) -> HTTPClientResponse {
        try await client.once(request, RetrySettings(policy: policy, options: options), isProbe: isProbe)
    }

    /// The result of a success without a proof. Over `http`, a URL that does not exist is requested from the same host.
    private func proven(_ delivery: OutboxDelivery, _ status: Int) async throws(RetryError) -> OutboxResult {
        guard let origin = delivery.request.unprotectedOrigin else { return .delivered }
        let method = HTTPMethod(rawValue: delivery.request.method)
        let answer = try await send(plain("\(origin)/\(makeName())", method), policy, plainOptions, isProbe: false)
        await answer.discard()
        let other = Int(answer.status.code)
        let remedy = "a portal? expect an answer that only the server gives"
        switch other {
        case 407, 511: break
        case 400..<500: return .delivered
        default:
            switch await interception(of: origin) {
            case .absent: return .delivered
            case .answer(let host):
                return .held(cause: "status \(status), but \(host), which no host has, answers, too: \(remedy)")
            case nil: break
            }
        }
        return .held(cause: "status \(status), but a URL that does not exist has status \(other): \(remedy)")
    }

    /// The answers of hosts that do not exist.
    private enum Interception: Equatable {
        case absent
        /// From this address or name.
        case answer(String)
    }

    /// Requests a page from addresses and a name that no host has, at the port of the origin. A portal intercepts connections, or resolves
    /// all names to itself.
    ///
    /// - Returns: Nil if an address cannot be asked.
    private func interception(of origin: String) async -> Interception? {
        let addresses = options.coordinator.unassignedAddresses()
        guard let url = RequestURL(origin), !addresses.isEmpty else { return nil }
        let names = WireAddress(url.host) == nil ? ["\(makeName()).example"] : []
        return await withTaskGroup(of: Interception?.self) { group in
            for host in addresses + names {
                group.addTask {
                    let authority = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
                    let request = plain("http://\(authority):\(url.port)/", .GET)
                    do throws(RetryError) {
                        let limited = Self.once(within: Self.interceptionLimit)
                        let answer = try await send(request, limited, plainOptions, isProbe: false)
                        await answer.discard()
                        // A proxy that forwards reports that it cannot connect.
                        return [502, 503, 504].contains(answer.status.code) ? .absent : .answer(host)
                    } catch {
                        switch error.lastError as? AttemptError {
                        // A name that does not exist has no path.
                        case .noPath, .heldBack: return names.contains(host) ? .absent : nil
                        default: return [.cancelled, .shutDown].contains(error.ending) ? nil : .absent
                        }
                    }
                }
            }
            return await group.reduce(.absent) { whole, part in
                if case .answer = whole {
                    whole
                } else if case .answer = part {
                    part
                } else {
                    part == nil ? nil : whole
                }
            }
        }
    }

    /// A request without header and body.
    private func plain(_ url: String, _ method: HTTPMethod) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: url)
        request.method = method
        return request
    }

    /// The options without the adapter, whose credentials only the server gets.
    private var plainOptions: RequestRetryOptions {
        var options = options
        options.adapter = nil
        return options
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

/// What shows that a success comes from the server and not from a portal in its place.
public enum DeliveryProof: Hashable, Sendable {
    /// The status of the answer.
    case status(Int)
    /// A header field of the answer, with this value.
    case header(PlainRequest.Field)
    /// A text in the first 64 KiB of the body.
    case body(String)

    /// The maximum number of bytes of a body that are read.
    private static let bodyLimit = 64 << 10

    /// Reads the answer as far as needed.
    func isShown(by answer: HTTPClientResponse) async -> Bool {
        switch self {
        case .status(let status):
            await answer.discard()
            return Int(answer.status.code) == status
        case .header(let field):
            await answer.discard()
            return answer.headers[field.name].contains { $0.utf8.elementsEqual(field.value.utf8) }
        case .body(let text):
            var bytes: [UInt8] = []
            do {
                for try await part in answer.body {
                    bytes += part.readableBytesView.prefix(Self.bodyLimit - bytes.count)
                    if bytes.count >= Self.bodyLimit { break }
                }
            } catch {
                // What came of it counts.
            }
            return !bytes.ranges(of: Array(text.utf8)).isEmpty
        }
    }
}

extension OutboxRequest {
    /// The origin if an answer from it proves nothing: the scheme is `http` and the host is beyond this machine.
    var unprotectedOrigin: String? {
        guard let url = RequestURL(url), url.scheme == "http" else { return nil }
        let host = url.host.lowercased()
        if host == "localhost" || host.hasSuffix(".localhost") || WireAddress(host)?.isLoopback == true { return nil }
        return url.origin
    }
}

extension OutboxResult {
    /// What a request that had no answer came to. Its words go into the file and into logs, so none of an adapter's are taken.
    init(_ error: RetryError) {
        guard let cause = error.lastError else {
            self = .held(cause: "nothing was sent: \(error.ending.rawValue)")
            return
        }
        let words = ErrorDescription.text(of: cause)
        self =
            switch cause {
            // The engine has not asked the client: there is no path, or the host has asked to be left alone.
            case AttemptError.noPath, AttemptError.heldBack: .held(cause: words)
            // The stored request was checked before.
            case is InvalidRequest: .held(cause: "the adapter has made a request that cannot be sent")
            case AttemptError.adapterFailed(let cause): .held(cause: "the adapter failed: \(type(of: cause))")
            case let failure as HTTPClientError where failure.isProxyRefusal: .held(cause: words)
            case let failure as HTTPClientError where failure.isOfRequest: .rejected(reason: words)
            // It was not the server, so nothing was sent. A portal that answers for all names looks like that.
            case let failure as NIOSSLError where failure.failureStage == nil: .held(cause: words)
            case let failure as BoringSSLError where failure.isOfSettings: .held(cause: words)
            case is NIOSSLExtraError: .held(cause: words)
            case _ where error.ending == .deadlineExpired: .retry(after: nil, cause: "no answer in time")
            default: .retry(after: nil, cause: words)
            }
    }
}

extension HTTPClientError {
    /// Whether a proxy has answered in the place of the server, which knows nothing of the request.
    fileprivate var isProxyRefusal: Bool { self == .proxyAuthenticationRequired || self == .invalidProxyResponse }

    /// Whether the client sends no such request: it will not get better.
    fileprivate var isOfRequest: Bool {
        switch self {
        case .invalidURL, .emptyHost, .emptyScheme, .traceRequestWithBody: true
        default: false
        }
    }
}
