/// The redirects that are followed. Each hop is a request of its own, with the limits of its host.
///
/// | Rule (RFC 9110, 15.4) | |
/// |---|---|
/// | 301, 302 after POST, 303 after anything but GET and HEAD | becomes GET, without a body |
/// | 301, 302 otherwise, 307, 308 | the same method, with the body; if that cannot be sent again, the redirect is the response |
/// | to another origin | without Authorization, Cookie, Proxy-Authorization, Host and Origin, and without the adapter |
/// | from https to http, or to another scheme; without Location | the redirect is the response |
/// | to a URL that was visited before, or beyond the limit | ``RedirectFailure`` |
///
/// A later failure is retried from the hop that failed, and never from the beginning.
public struct RedirectRule: Hashable, Sendable {
    /// The maximum number of redirects. With 0 a redirect is the response.
    public let limit: Int

    /// Whether a URL may be visited twice, which makes sense with cookies.
    public let allowsCycles: Bool

    /// Follows redirects.
    public static func follow(_ limit: Int = 20, allowsCycles: Bool = false) -> RedirectRule {
        RedirectRule(limit: max(0, limit), allowsCycles: allowsCycles)
    }

    /// Follows no redirects.
    public static let none = RedirectRule(limit: 0, allowsCycles: false)
}

/// The error of a request that was redirected without end.
public enum RedirectFailure: RetryableError, Hashable {
    /// There were more redirects than the limit.
    case tooMany(limit: Int)
    /// The URL was visited before.
    case cycle

    /// Not retried.
    public var failureStage: FailureStage? { nil }
}

extension RedirectFailure: CustomStringConvertible {
    /// One sentence.
    public var description: String {
        switch self {
        case .tooMany(let limit): "the servers redirect without end: \(limit) redirects were followed"
        case .cycle: "the servers redirect in a circle"
        }
    }
}

/// The step after a response.
enum RedirectStep: Equatable {
    /// The response is kept.
    case keep
    case follow(RedirectHop)
    case fail(RedirectFailure)
}

/// A request to one URL.
package struct RedirectHop: Hashable, Sendable {
    /// The caller's request, without the fields that must not go to this origin.
    package var request: PlainRequest
    /// Whether the request is sent with its body.
    package var hasBody: Bool
    /// The fields that name the span of the attempt. They replace the request's own fields of these names.
    package var traceFields: [PlainRequest.Field] = []
    /// Whether the request goes to the origin that the caller named.
    package var isFirstOrigin = true
    /// Method and URL of the previous hops.
    var visited: [String] = []

    /// The request as it is sent.
    package var traced: PlainRequest {
        var request = request
        for field in traceFields { request[field.name] = field.value }
        return request
    }

    /// The number of redirects before this hop.
    package var count: Int { visited.count }

    /// The fields that a request without a body does not have.
    private static let ofBody = ["Content-Type", "Content-Length", "Content-Encoding", "Transfer-Encoding"]

    /// The fields that are not sent to another origin.
    private static let confined = ["Authorization", "Cookie", "Proxy-Authorization", "Host", "Origin"]

    /// The step after a response.
    ///
    /// - Parameters:
    ///   - sent: The URL of the request, which an adapter may have changed.
    ///   - isReplayable: Whether the body can be sent again.
    ///   - idempotency: The field of the idempotency key, which another request must not have.
    func step(
        after status: Int,
        location: String?,
        sentTo sent: String,
        isReplayable: Bool,
        idempotency: IdempotencyKeys = .given(),
        by rule: RedirectRule
    ) -> RedirectStep {
        guard rule.limit > 0, [301, 302, 303, 307, 308].contains(status), let location,
            let from = RequestURL(sent, allowsSockets: true), let next = RequestURL(location: location, from: from),
            next.scheme == from.scheme || (from.scheme, next.scheme) == ("http", "https")
        else { return .keep }
        var hop = self
        let method = request.method
        if status == 303 ? method != .get && method != .head : status < 303 && method == .post {
            hop.request.method = .get
            hop.hasBody = false
            for name in Self.ofBody + [idempotency.header] { hop.request[name] = nil }
        }
        guard !hop.hasBody || isReplayable else { return .keep }
        if next.origin != from.origin {
            for name in Self.confined { hop.request[name] = nil }
            hop.isFirstOrigin = false
        }
        hop.visited.append("\(method) \(from.text)")
        guard hop.visited.count <= rule.limit else { return .fail(.tooMany(limit: rule.limit)) }
        hop.request.url = next.text
        guard rule.allowsCycles || !hop.visited.contains("\(hop.request.method) \(next.text)") else {
            return .fail(.cycle)
        }
        return .follow(hop)
    }
}
