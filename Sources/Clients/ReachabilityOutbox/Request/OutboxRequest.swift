import LinuxSupport
public import ReachabilityRetry

/// An HTTP request to be kept until it is delivered.
///
/// Descriptions, reflections and logs show its method, its origin, and how many headers and bytes it has; never a path, a
/// query, a header's value or the body, all of which may be secrets.
public struct OutboxRequest: Hashable, Sendable {
    /// The method, a token of RFC 9110 section 9: `POST`, for example.
    public var method: String

    /// An absolute URL with the scheme `http` or `https` and without user and password.
    public var url: String

    /// The headers, in order. One named `Idempotency-Key` is taken for the key; otherwise one is made and added.
    public var headers: [PlainRequest.Field]

    /// The content, as it is to be sent.
    public var body: [UInt8]

    /// A request; it is checked when it is put in.
    public init(_ method: String, _ url: String, headers: [PlainRequest.Field] = [], body: [UInt8] = []) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }

    /// The bytes that count against ``OutboxOptions/maximumBytes``: method, URL, headers and body.
    public var size: Int {
        headers.reduce(method.utf8.count + url.utf8.count + body.count) {
            $0 + $1.name.utf8.count + $1.value.utf8.count
        }
    }

    /// The name of the header that makes sending twice harmless (draft-ietf-httpapi-idempotency-key-header).
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

    /// The same as ``description``, for `dump(_:)` too.
    public var customMirror: Mirror { Mirror(self, children: ["summary": description]) }
}

extension [PlainRequest.Field] {
    /// The value of the first header of a name, in lower case.
    func value(of name: String) -> String? { first { $0.name.lowercased() == name }?.value }
}

extension OutboxRequest {
    /// Why a stored request can never be sent; nil if it can. An earlier version may have stored it, or the row is damaged.
    var refusal: String? {
        do throws(OutboxError) {
            _ = try check()
            return nil
        } catch {
            if case .invalidRequest(let text) = error { return "it cannot be sent: \(text)" }
            return "it cannot be sent"
        }
    }

    /// Checks what would break the request's form, or let one header or line be taken for two; says nothing of the values.
    func check() throws(OutboxError) -> OutboxOrigin {
        guard method.isToken else { throw .invalidRequest("the method is no token such as POST") }
        for header in headers {
            guard header.name.isToken else { throw .invalidRequest("a header's name is no token such as Accept") }
            guard !Self.framing.contains(header.name.lowercased()) else {
                throw .invalidRequest("the header \(header.name) is the sender's: it follows from the URL and the body")
            }
            guard header.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }) else {
                throw .invalidRequest("the value of the header \(header.name) has a control character")
            }
        }
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
            throw .invalidRequest("the URL has blanks, control characters or letters beyond ASCII")
        }
        if let key = headers.value(of: Self.idempotencyKeyHeader.lowercased()), key.isEmpty {
            throw .invalidRequest("the header \(Self.idempotencyKeyHeader) is empty")
        }
        return try OutboxOrigin(url)
    }

    /// Headers of the message and the connection (RFC 9110, sections 7.2, 7.6.1, 7.8, 8.6, 10.1.1 and 10.1.4; RFC 9112, section 6.1):
    /// one that contradicts what is sent lets a server take a part of the body for another request, or names another server.
    static let framing: Set<String> = [
        "connection", "content-length", "expect", "host", "http2-settings", "keep-alive", "proxy-connection", "te",
        "trailer",
        "transfer-encoding", "upgrade",
    ]
}

/// What an outbox tells of a request it holds: nothing of it is secret.
public struct OutboxEntry: Hashable, Sendable, Identifiable {
    /// What is so of a request in an outbox.
    public enum State: String, Hashable, Sendable {
        /// It waits for its turn, for the network, or for the time the server named.
        case waiting
        /// A process is sending it, or ended while it did.
        case sending
        /// It was given up, and is kept until it is put in again or dropped.
        case dead
    }

    /// Its number: grows with each request that is put in, and is never used again.
    public let id: Int64
    /// The method.
    public let method: String
    /// Scheme, host and port of the URL, without the scheme's default port: `https://example.org`. Requests of one origin are sent one
    /// after the other.
    public let origin: String
    /// The host: what is asked about.
    public let host: String
    /// Requests of a higher priority are sent first.
    public let priority: Int
    /// What makes putting it in twice harmless; nil without.
    public let dedupeKey: String?
    /// The value of the header `Idempotency-Key`.
    public let idempotencyKey: String
    /// The bytes that count against ``OutboxOptions/maximumBytes``.
    public let size: Int
    /// When it was put in: time since 1970-01-01T00:00:00Z.
    public let enqueuedAt: Duration
    /// When it is thrown away unsent: time since 1970-01-01T00:00:00Z; nil for never.
    public let expiresAt: Duration?
    /// Not to be sent before, as the server said: time since 1970-01-01T00:00:00Z; nil for at once.
    public let notBefore: Duration?
    /// When whoever runs the outbox means to try again: time since 1970-01-01T00:00:00Z; nil for at the next occasion.
    public let nextTry: Duration?
    /// What the last try came to, or why it is dead, in a sender's words; nil before the first.
    public internal(set) var lastError: String?
    /// When it was given up: time since 1970-01-01T00:00:00Z; nil while it waits.
    public let diedAt: Duration?
    /// How often sending it has begun, but for what was no attempt (``OutboxResult/held(cause:)``).
    public internal(set) var attempts: Int
    /// Whether it waits or is being sent.
    public let state: State
}

extension OutboxEntry: CustomStringConvertible {
    /// For example `12: POST https://example.org, priority 0, 120 bytes, attempts 1, waiting`.
    public var description: String {
        "\(id): \(method) \(origin), priority \(priority), \(size) bytes, attempts \(attempts), \(state.rawValue)"
    }
}

/// What became of a request that was put in.
public enum OutboxAddition: Hashable, Sendable {
    /// It is stored, on the disk, and will be sent.
    case added(OutboxEntry)
    /// One with the same dedupe key is waiting; that one stays as it is, and the new one is not stored.
    case waiting(OutboxEntry)
    /// One with the same dedupe key was delivered less than ``OutboxOptions/dedupeWindow`` ago; the new one is not stored.
    case delivered
}

/// Scheme, host and port of a URL (RFC 6454). None of it is secret.
struct OutboxOrigin: Hashable, Sendable, CustomStringConvertible {
    /// The host in lower case, an IPv6 address without brackets.
    let host: String
    /// For example `https://example.org:8443`, without the scheme's default port.
    let description: String

    init(_ text: String) throws(OutboxError) {
        let scheme = text.firstRange(of: "://").map { text[..<$0.lowerBound] }
        guard let scheme, ["http", "https"].contains(scheme.lowercased()) else {
            let other = scheme.map { ": its scheme is \(String($0).printable)" } ?? ""
            throw .invalidRequest("the URL does not begin with http:// or https://\(other)")
        }
        guard let url = RequestURL(text) else {
            throw .invalidRequest("the URL names no host, or its port is not 1 to 65535")
        }
        guard url.userInfo == nil else {
            throw .invalidRequest("the URL has a user name: put it into an Authorization header")
        }
        // The zone of a link-local address is written %25 in a URL (RFC 6874).
        host = url.host.replacing(scalars: "%25", with: "%", maxReplacements: 1)
        guard (try? HostError.check(host)) != nil else { throw .invalidRequest("the URL names no host") }
        description = url.origin.replacing(scalars: "%25", with: "%", maxReplacements: 1)
    }
}
