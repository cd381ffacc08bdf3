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

/// Fetches what responders and authorities say, over HTTP. Whoever has an HTTP client can be one. Redirects need not be followed. The
/// URLs are plain `http` nearly always, for the answers are signed; for `https` revocation must not be asked about again, or a
/// question may wait for itself.
public protocol RevocationFetching: Sendable {
    /// The body of the answer with status 200.
    ///
    /// Called on any thread, and by several tasks at once. The limits are checked by the caller too, but only here can they save
    /// anything: reading stops at `sizeLimit`, and waiting at `timeLimit` or when the task is cancelled.
    func fetch(_ request: RevocationRequest) async throws(RevocationFetchError) -> [UInt8]
}

/// Why there is no answer.
public enum RevocationFetchError: Error, Hashable, Sendable {
    /// Not within the time limit.
    case timedOut
    /// More bytes than the size limit.
    case tooLarge
    /// Another HTTP status than 200.
    case status(Int)
    /// Everything else. The text says what was tried and what the system said.
    case failed(String)

    func problem(_ request: RevocationRequest) -> RevocationProblem {
        switch self {
        case .timedOut: .timedOut(request.timeLimit)
        case .tooLarge: .tooLarge(limit: request.sizeLimit)
        case .status(let status): .httpStatus(status)
        case .failed(let cause): .unreachable(cause)
        }
    }
}
