import LinuxSupport
import X509

/// An HTTP request for an OCSP response or a revocation list.
public struct RevocationRequest: Hashable, Sendable {
    /// The HTTP methods of requests.
    public enum Method: String, Hashable, Sendable {
        /// A request without a body.
        case get = "GET"
        /// A request with a body.
        case post = "POST"
    }

    /// The URL: `http` or `https`, in printable ASCII without spaces.
    public let url: String

    /// The method.
    public let method: Method

    /// The header field `Content-Type`; nil without a body.
    public let contentType: String?

    /// The header field `Accept`.
    public let accept: String

    /// The body; empty with ``Method/get``.
    public let body: [UInt8]

    /// The time limit from the call to the last byte.
    public let timeLimit: Duration

    /// The maximum size of the response body in bytes.
    public let sizeLimit: Int

    /// Returns a request for a revocation list (RFC 2585).
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

    /// Returns a request for an OCSP responder: GET if the response may be cached and the URL has at most 255 bytes,
    /// POST otherwise (RFC 6960, A.1; RFC 5019, 5).
    static func ocsp(_ url: String, _ body: [UInt8], _ settings: RevocationSettings) -> RevocationRequest {
        let place = url + (url.hasSuffix("/") ? "" : "/") + Base64.encode(body).percentEncoded
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

/// A fetcher of OCSP responses and revocation lists over HTTP. Any HTTP client can implement it.
///
/// Redirects need not be followed. Nearly all URLs are plain `http`, because the responses are signed. For `https` URLs
/// the revocation of the server's certificate must not be checked, because such a check could wait for itself.
public protocol RevocationFetching: Sendable {
    /// Fetches the body of a response with status 200.
    ///
    /// It is called on any thread and by several tasks at once. Implementations should stop reading at `sizeLimit`, and
    /// stop waiting at `timeLimit` or when the task is cancelled. The caller checks the limits too, but only after the
    /// data was transferred.
    func fetch(_ request: RevocationRequest) async throws(RevocationFetchError) -> [UInt8]
}

/// The reason why a request failed.
public enum RevocationFetchError: Error, Hashable, Sendable {
    /// The time limit was exceeded.
    case timedOut
    /// The response exceeds the size limit.
    case tooLarge
    /// The HTTP status is not 200.
    case status(Int)
    /// Another error. The text contains the action and the reason of the system.
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

/// The URLs in certificates.
enum RevocationURL {
    /// Returns the URLs that can be fetched. `ldap` is not supported. URLs with invalid characters are skipped, because
    /// implementations interpret them differently.
    static func all(in names: [GeneralName]) -> [String] {
        names.compactMap { name in
            guard case .uniformResourceIdentifier(let url) = name, isUsable(url) else { return nil }
            return url
        }
    }

    static func isUsable(_ url: String) -> Bool {
        let scheme = url.prefix { $0 != ":" }.lowercased()
        guard scheme == "http" || scheme == "https", url.dropFirst(scheme.count).hasPrefix("://") else { return false }
        return url.utf8.count <= 2048 && url.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
    }

    /// Returns the responders that a certificate names (authorityInfoAccess, RFC 5280, 4.2.2.1).
    static func responders(of certificate: TrustCertificate) -> [String] {
        let access = (try? certificate.x509.extensions.authorityInformationAccess) ?? AuthorityInformationAccess()
        return all(in: access.filter { $0.method == .ocspServer }.map(\.location))
    }
}
