import AsyncHTTPClient
import LinuxSupport
import NIOCore
import NIOHTTP1
import NIOSSL
public import ReachabilityHTTP
public import ReachabilityRetry

/// A sender that uses async-http-client. It makes one attempt per call. If the path is lost before the request is sent,
/// the attempt is ended. The retry engine that the outbox uses decides when an attempt is made, so the sender neither
/// waits before it nor counts it.
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
/// Redirects are not followed, because a portal may have sent them (``OutboxResult``).
///
/// TLS proves that the response is from the server. Over `http`, a portal may respond with 200 in place of the server.
/// A success then counts only if one of these conditions holds:
///
/// - The response has the configured ``DeliveryProof``.
/// - No proof is configured, and the same host rejects a URL that does not exist. A portal responds to every URL.
/// - No proof is configured, the host accepts that URL, and no server responds for unassigned addresses and nonexistent
///   names. A portal does. This takes up to two seconds.
/// - The host is a loopback address or `localhost`.
///
/// | Event | Result |
/// |---|---|
/// | A response. | The result of its status. |
/// | The path was lost and did not return within the limit, the adapter failed, TLS was refused, or a proxy refused the connection. | Held: does not count as an attempt. |
/// | A success over `http` without a proof. | Held: does not count as an attempt. |
/// | The client cannot send such a request. | Rejected. |
/// | Any other failure, for example no connection, or no response in time. | Sent again later. |
public struct HTTPOutboxSender: OutboxSender {
    private let client: RetryingHTTPClient
    private let options: RequestRetryOptions
    private let policy: RetryPolicy
    private let proof: DeliveryProof?
    /// Returns a name that no host and no resource has.
    var makeName: @Sendable () -> String = {
        UInt128.random(in: .min ... .max).hexadecimal
    }

    /// The maximum time to wait for an intercepting portal. It is long enough for a second SYN.
    private static let interceptionLimit = Duration.seconds(2)

    /// Creates a sender. Several outboxes may use it.
    ///
    /// - Parameters:
    ///   - client: The HTTP client. The sender does not shut it down.
    ///   - adapter: Changes each request right before it is sent. Its changes are never written to the file, so use it
    ///     for credentials. It must not change the header Idempotency-Key. If it throws, the request waits.
    ///   - limit: The maximum time until the head of the response arrives, at least 1 ms.
    ///   - proof: The condition under which a success is accepted as the server's, for `http` and `https`.
    ///   - coordinator: The state that all requests share.
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

    /// Returns a policy with one attempt.
    private static func once(within limit: Duration) -> RetryPolicy {
        .standard.changing { policy in
            policy.deadline = limit
            policy.attempts = 1
        }
    }

    /// Sends a request once.
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
                switch result {
                case .delivered: return try await proven(delivery, status)
                case .rejected: return await refused(result, delivery, status)
                case .retry, .held: return result
                }
            }
            if await proof.isShown(by: answer) { return result }
            return .held(cause: "status \(status), but the response is not the expected one; a portal may have sent it")
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

    /// Returns the result of a success without a proof. Over `http`, requests a URL that does not exist from the same
    /// host.
    private func proven(_ delivery: OutboxDelivery, _ status: Int) async throws(RetryError) -> OutboxResult {
        guard let origin = delivery.request.unprotectedOrigin else { return .delivered }
        let method = HTTPMethod(rawValue: delivery.request.method)
        let answer = try await send(plain("\(origin)/\(makeName())", method), policy, plainOptions, isProbe: false)
        await answer.discard()
        let other = Int(answer.status.code)
        let remedy = "a portal may have responded; set the expected response (--expect)"
        switch other {
        case 407, 511: break
        case 400..<500: return .delivered
        default:
            switch await interception(of: origin) {
            case .absent: return .delivered
            case .answer(let host):
                return .held(cause: "status \(status), but the nonexistent host \(host) responds too: \(remedy)")
            case nil: break
            }
        }
        return .held(cause: "status \(status), but a URL that does not exist has status \(other): \(remedy)")
    }

    /// Returns the result of a response that refuses the request. Over `http`, a portal may refuse in place of the server.
    private func refused(_ result: OutboxResult, _ delivery: OutboxDelivery, _ status: Int) async -> OutboxResult {
        guard let origin = delivery.request.unprotectedOrigin, case .answer(let host) = await interception(of: origin)
        else { return result }
        let reason = "the nonexistent host \(host) responds too; a portal may have sent the response"
        return .held(cause: "status \(status), but \(reason)")
    }

    /// The result of the requests to hosts that do not exist.
    private enum Interception: Equatable {
        case absent
        /// A response arrived from this address or name.
        case answer(String)
    }

    /// Requests a page from unassigned addresses and a nonexistent name, at the port of the origin. A portal intercepts
    /// connections, or resolves all names to itself.
    ///
    /// - Returns: The result; nil if an address cannot be tested.
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
                        // A forwarding proxy reports that it cannot connect.
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

    /// Returns a request without header and body.
    private func plain(_ url: String, _ method: HTTPMethod) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: url)
        request.method = method
        return request
    }

    /// The options without the adapter, because only the server may receive credentials.
    private var plainOptions: RequestRetryOptions {
        var options = options
        options.adapter = nil
        return options
    }
}

extension HTTPClientRequest {
    /// Creates the client's request from a stored request.
    fileprivate init(_ request: OutboxRequest) {
        self.init(url: request.url)
        method = HTTPMethod(rawValue: request.method)
        for header in request.headers { headers.add(name: header.name, value: header.value) }
        if !request.body.isEmpty { body = .bytes(ByteBuffer(bytes: request.body)) }
    }
}

/// The condition under which a success is accepted as the server's, and not a portal's.
public enum DeliveryProof: Hashable, Sendable {
    /// The status of the response.
    case status(Int)
    /// A header field of the response with this value.
    case header(RequestHead.Field)
    /// A text in the first 64 KiB of the body.
    case body(String)

    /// The maximum number of bytes of a body that are read.
    private static let bodyLimit = 64 << 10

    /// Returns whether a response fulfils the condition. Reads the response as far as needed.
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
                // The part that was read counts.
            }
            return !bytes.ranges(of: Array(text.utf8)).isEmpty
        }
    }
}

extension OutboxRequest {
    /// The origin, if a success from it needs a proof: the scheme is `http` and the host is not this machine. Otherwise
    /// nil.
    var unprotectedOrigin: String? {
        guard let url = RequestURL(url), url.scheme == "http" else { return nil }
        let host = url.host.lowercased()
        if host == "localhost" || host.hasSuffix(".localhost") || WireAddress(host)?.isLoopback == true { return nil }
        return url.origin
    }
}

extension OutboxResult {
    /// Creates the result of a request without a response. The text is stored and logged, so it contains no text of an
    /// adapter.
    init(_ error: RetryError) {
        guard let cause = error.lastError else {
            self = .held(cause: "cannot send the request: \(error.ending.rawValue)")
            return
        }
        let words = ErrorDescription.text(of: cause)
        self =
            switch cause {
            // Nothing was sent: there is no path, or the host has requested a pause.
            case AttemptError.noPath, AttemptError.heldBack: .held(cause: words)
            // The stored request was valid.
            case is InvalidRequest: .held(cause: "the adapter created an invalid request")
            case AttemptError.adapterFailed(let cause): .held(cause: "the adapter failed: \(type(of: cause))")
            case let failure as HTTPClientError where failure.isProxyRefusal: .held(cause: words)
            case let failure as HTTPClientError where failure.isOfRequest: .rejected(reason: words)
            // The peer was not the server, so the request was not sent. A portal that responds for all names causes
            // such an error.
            case let failure as NIOSSLError where failure.failureStage == nil: .held(cause: words)
            case let failure as BoringSSLError where failure.isOfSettings: .held(cause: words)
            case is NIOSSLExtraError: .held(cause: words)
            case _ where error.ending == .deadlineExpired: .retry(after: nil, cause: "no answer in time")
            default: .retry(after: nil, cause: words)
            }
    }
}

extension HTTPClientError {
    /// A Boolean value that indicates whether a proxy has responded in place of the server.
    fileprivate var isProxyRefusal: Bool { self == .proxyAuthenticationRequired || self == .invalidProxyResponse }

    /// A Boolean value that indicates whether the client can never send such a request.
    fileprivate var isOfRequest: Bool {
        switch self {
        case .invalidURL, .emptyHost, .emptyScheme, .traceRequestWithBody: true
        default: false
        }
    }
}
