/// The header field by which a server recognises a repetition. Its value, the key, is the same in each attempt
/// (draft-ietf-httpapi-idempotency-key-header). A request with a key may be repeated, whatever its method.
///
/// | | Which requests have a key |
/// |---|---|
/// | ``given(in:)`` | those that the caller has given one |
/// | ``made(in:)`` | these, and every other whose method is not idempotent: 128 random bits |
public struct IdempotencyKeys: Hashable, Sendable {
    /// The name of the header field.
    public let header: String

    /// Whether a request without a key gets one.
    public let areMade: Bool

    /// The field that servers agree on.
    public static let standardHeader = "Idempotency-Key"

    /// Keys are the caller's.
    ///
    /// - Parameter header: The name of the field: `PayPal-Request-Id`, for example.
    public static func given(in header: String = standardHeader) -> IdempotencyKeys {
        IdempotencyKeys(header: header, areMade: false)
    }

    /// A request whose method is not idempotent (POST, PATCH) gets a key where it has none. Only for servers that honour the field: any
    /// other would do a repeated request twice.
    ///
    /// - Parameter header: The name of the field.
    public static func made(in header: String = standardHeader) -> IdempotencyKeys {
        IdempotencyKeys(header: header, areMade: true)
    }

    /// Whether a request has a key that is not empty.
    package func hasKey(_ request: PlainRequest) -> Bool { request[header].map { !$0.isEmpty } ?? false }

    /// The request with a key, where it is to have one.
    func adding(to request: PlainRequest) -> PlainRequest {
        guard areMade, !request.method.isIdempotent, !hasKey(request) else { return request }
        var request = request
        let bits = UInt128.random(in: .min ... .max)
        let digits = String(bits, radix: 16)
        request[header] = String(repeating: "0", count: 32 - digits.count) + digits
        return request
    }
}
