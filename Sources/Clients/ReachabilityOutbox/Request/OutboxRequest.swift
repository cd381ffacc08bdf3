import LinuxSupport
public import ReachabilityRetry

/// An HTTP request that is stored until it is delivered.
///
/// Descriptions, reflections and logs contain its method, its origin, and the numbers of headers and bytes. They never
/// contain a path, a query, a header value or the body, because these may be secrets.
public struct OutboxRequest: Hashable, Sendable {
    /// The method, a token of RFC 9110 section 9, for example `POST`.
    public var method: String

    /// An absolute URL with the scheme `http` or `https`, without user and password.
    public var url: String

    /// The headers, in the order in which they are sent. A header `Idempotency-Key` is used as the key. Without one, a
    /// key is created and added.
    public var headers: [RequestHead.Field]

    /// The content, as it is sent.
    public var body: [UInt8]

    /// Creates a request. It is validated when it is added to the outbox.
    public init(_ method: String, _ url: String, headers: [RequestHead.Field] = [], body: [UInt8] = []) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }

    /// The number of bytes that count towards ``OutboxOptions/maximumBytes``: method, URL, headers and body.
    public var size: Int {
        headers.reduce(method.utf8.count + url.utf8.count + body.count) {
            $0 + $1.name.utf8.count + $1.value.utf8.count
        }
    }

    /// The name of the header by which a server recognises a repeated request
    /// (draft-ietf-httpapi-idempotency-key-header).
    public static let idempotencyKeyHeader = "Idempotency-Key"
}

extension OutboxRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// For example `POST https://example.org, 2 headers, 120 bytes of body`.
    public var description: String {
        let origin = (try? OutboxOrigin(url))?.description ?? "(no URL)"
        return "\(method) \(origin), \(headers.count) headers, \(body.count) bytes of body"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``, also for `dump(_:)`.
    public var customMirror: Mirror { Mirror(self, children: ["summary": description]) }
}

extension [RequestHead.Field] {
    /// Returns the value of the first header with a name, which must be in lower case.
    func value(of name: String) -> String? { first { $0.name.lowercased() == name }?.value }
}

extension OutboxRequest {
    /// The reason why a stored request can never be sent; nil if it can. An earlier version may have stored it, or the
    /// row is damaged.
    var refusal: String? {
        do throws(OutboxError) {
            _ = try check()
            return nil
        } catch {
            if case .invalidRequest(let text) = error { return "cannot send the stored request: \(text)" }
            return "cannot send the stored request"
        }
    }

    /// Checks the method, the headers and the URL for text that would make the message invalid, or let a server read
    /// one header or line as two. The error does not contain the values. Returns the origin.
    func check() throws(OutboxError) -> OutboxOrigin {
        guard method.isToken else { throw .invalidRequest("the method is not a token such as POST") }
        for header in headers {
            guard header.name.isToken else { throw .invalidRequest("a header name is not a token such as Accept") }
            guard !Self.framing.contains(header.name.lowercased()) else {
                throw .invalidRequest("the header \(header.name) is not permitted, because the sender sets it")
            }
            guard header.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }) else {
                throw .invalidRequest("the value of the header \(header.name) contains a control character")
            }
        }
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
            throw .invalidRequest("the URL contains spaces, control characters or non-ASCII characters")
        }
        if let key = headers.value(of: Self.idempotencyKeyHeader.lowercased()), key.isEmpty {
            throw .invalidRequest("the header \(Self.idempotencyKeyHeader) is empty")
        }
        return try OutboxOrigin(url)
    }

    /// The headers of the message and the connection (RFC 9110, sections 7.2, 7.6.1, 7.8, 8.6, 10.1.1 and 10.1.4; RFC
    /// 9112, section 6.1). A header that contradicts the message could let a server read a part of the body as another
    /// request, or route the request to another server.
    static let framing: Set<String> = [
        "connection", "content-length", "expect", "host", "http2-settings", "keep-alive", "proxy-connection", "te",
        "trailer",
        "transfer-encoding", "upgrade",
    ]
}

/// The properties of a stored request without secrets.
public struct OutboxEntry: Hashable, Sendable, Identifiable {
    /// The state of a stored request.
    public enum State: String, Hashable, Sendable {
        /// The request waits for its turn, for the network, or for the end of a pause that the server requested.
        case waiting
        /// A process is sending the request, or ended while it did.
        case sending
        /// The request was rejected, and is kept until it is requeued or dropped.
        case dead
    }

    /// The number of the request. It increases with each added request and is never used again.
    public let id: Int64
    /// The method.
    public let method: String
    /// The scheme, host and port of the URL, without the default port of the scheme, for example `https://example.org`.
    /// The requests of an origin are sent one at a time.
    public let origin: String
    /// The host whose reachability is queried.
    public let host: String
    /// The priority. Requests of a higher priority are sent first.
    public let priority: Int
    /// The key that prevents a second request with the same effect; nil without one.
    public let dedupeKey: String?
    /// The value of the header `Idempotency-Key`.
    public let idempotencyKey: String
    /// The number of bytes that count towards ``OutboxOptions/maximumBytes``.
    public let size: Int
    /// The time when the request was added, since 1970-01-01T00:00:00Z.
    public let enqueuedAt: Duration
    /// The time when the request expires and is deleted unsent, since 1970-01-01T00:00:00Z; nil if it does not expire.
    public let expiresAt: Duration?
    /// The end of the pause that the server requested, since 1970-01-01T00:00:00Z; nil without a pause.
    public let notBefore: Duration?
    /// The planned time of the next attempt, since 1970-01-01T00:00:00Z; nil if none is planned.
    public let nextTry: Duration?
    /// The result of the last attempt, or the reason why the request was rejected, as the sender reported it; nil
    /// before the first attempt.
    public internal(set) var lastError: String?
    /// The time when the request was rejected, since 1970-01-01T00:00:00Z; nil while it waits.
    public let diedAt: Duration?
    /// The number of attempts that began. A send that does not count as an attempt is not included
    /// (``OutboxResult/held(cause:)``).
    public internal(set) var attempts: Int
    /// The state of the request.
    public let state: State
}

extension OutboxEntry: CustomStringConvertible {
    /// For example `12: POST https://example.org, priority 0, 120 bytes, attempts 1, waiting`.
    public var description: String {
        "\(id): \(method) \(origin), priority \(priority), \(size) bytes, attempts \(attempts), \(state.rawValue)"
    }
}

/// The result of adding a request.
public enum OutboxAddition: Hashable, Sendable {
    /// The request is stored on the disk, and will be sent.
    case added(OutboxEntry)
    /// A request with the same dedupe key waits. The new request is not stored.
    case waiting(OutboxEntry)
    /// A request with the same dedupe key was delivered less than ``OutboxOptions/dedupeWindow`` ago. The new request
    /// is not stored.
    case delivered
}

/// The scheme, host and port of a URL (RFC 6454). It contains no secrets.
struct OutboxOrigin: Hashable, Sendable, CustomStringConvertible {
    /// The host in lower case. An IPv6 address has no brackets.
    let host: String
    /// For example `https://example.org:8443`. The default port of the scheme is omitted.
    let description: String

    init(_ text: String) throws(OutboxError) {
        let scheme = text.firstRange(of: "://").map { text[..<$0.lowerBound] }
        guard let scheme, ["http", "https"].contains(scheme.lowercased()) else {
            let other = scheme.map { "; its scheme is \(String($0).printable)" } ?? ""
            throw .invalidRequest("the URL does not begin with http:// or https://\(other)")
        }
        guard let url = RequestURL(text) else {
            throw .invalidRequest("the URL has no host, or its port is not from 1 to 65535")
        }
        guard url.userInfo == nil else {
            throw .invalidRequest("the URL contains a user name; use an Authorization header instead")
        }
        host = url.targetHost
        guard (try? HostError.check(host)) != nil else { throw .invalidRequest("the URL has no valid host") }
        description = url.origin.replacing(scalars: "%25", with: "%", maxReplacements: 1)
    }
}
