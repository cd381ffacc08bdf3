/// What is to be fetched.
public struct RevocationRequest: Hashable, Sendable {
    /// The methods of HTTP that are needed.
    public enum Method: String, Hashable, Sendable {
        /// Without a body.
        case get = "GET"
        /// With one.
        case post = "POST"
    }

    /// `http` or `https`, in printable ASCII without blanks.
    public let url: String

    /// How.
    public let method: Method

    /// `Content-Type`; nil without a body.
    public let contentType: String?

    /// `Accept`.
    public let accept: String

    /// Empty with ``Method/get``.
    public let body: [UInt8]

    /// From the call to the last byte.
    public let timeLimit: Duration

    /// The most bytes of an answer's body.
    public let sizeLimit: Int

    /// A list (RFC 2585).
    static func list(_ url: String, _ settings: RevocationSettings) -> RevocationRequest {
        RevocationRequest(
            url: url,
            method: .get,
            contentType: nil,
            accept: "application/pkix-crl",
            body: [],
            timeLimit: settings.timeLimit,
            sizeLimit: settings.maximumListBytes
        )
    }

    /// A question for a responder: by POST, or by GET where the answer may be cached and the URL stays short (RFC 6960, A.1;
    /// RFC 5019, 5).
    static func ocsp(_ url: String, _ body: [UInt8], _ settings: RevocationSettings) -> RevocationRequest {
        let place = url + (url.hasSuffix("/") ? "" : "/") + RevocationURL.escaped(Base64.encode(body))
        let isShort = !settings.usesNonce && place.utf8.count <= 255
        return RevocationRequest(
            url: isShort ? place : url,
            method: isShort ? .get : .post,
            contentType: isShort ? nil : "application/ocsp-request",
            accept: "application/ocsp-response",
            body: isShort ? [] : body,
            timeLimit: settings.timeLimit,
            sizeLimit: settings.maximumResponseBytes
        )
    }
}
