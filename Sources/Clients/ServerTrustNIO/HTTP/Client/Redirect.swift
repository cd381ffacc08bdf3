import NIOHTTP1

/// What an answer that redirects makes of a request (RFC 9110, 15.4).
enum Redirect {
    /// The request to follow with; nil when the answer does not redirect.
    static func next(
        after response: TrustedHTTPResponse,
        to request: TrustedHTTPRequest
    ) throws(TrustedHTTPFailure) -> TrustedHTTPRequest? {
        guard statuses.contains(response.status.code) else { return nil }
        let places = Set(response.headers[canonicalForm: "Location"])
        guard let place = places.first else { return nil }
        guard places.count == 1 else {
            throw .invalidRedirect(String(place), problem: "it names another place, too")
        }
        var next = request
        next.url = try url(String(place), from: request.url)
        if turnsIntoGet(response.status, request.method) {
            next.method = .GET
            next.body = []
            for name in bodyFields { next.headers.remove(name: name) }
        }
        if !next.url.hasOrigin(of: request.url) {
            for name in ownFields { next.headers.remove(name: name) }
        }
        return next
    }

    private static func url(_ place: String, from base: TrustedHTTPURL) throws(TrustedHTTPFailure) -> TrustedHTTPURL {
        let url: TrustedHTTPURL
        do {
            url = try base.resolving(place)
        } catch {
            guard case .invalidURL(let text, let problem) = error else { throw error }
            throw .invalidRedirect(text, problem: problem)
        }
        guard base.scheme == .http || url.scheme == .https else { throw .insecureRedirect(url) }
        return url
    }

    /// 303 says so; after 301 and 302 everybody does it with POST (RFC 9110, 15.4.2 and 15.4.3).
    private static func turnsIntoGet(_ status: HTTPResponseStatus, _ method: HTTPMethod) -> Bool {
        switch status.code {
        case 303: method != .GET && method != .HEAD
        case 301, 302: method == .POST
        default: false
        }
    }

    private static let statuses: Set<UInt> = [301, 302, 303, 307, 308]

    private static let bodyFields = ["Content-Type", "Content-Encoding", "Content-Language", "Content-Location"]

    /// Nobody else's business.
    private static let ownFields = ["Authorization", "Proxy-Authorization", "Cookie", "Host"]
}
