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
