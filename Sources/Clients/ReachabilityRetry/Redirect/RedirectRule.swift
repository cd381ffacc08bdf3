/// The rules for redirects. Each hop is a separate request, with the limits of its host.
///
/// | Case (RFC 9110, 15.4) | Behaviour |
/// |---|---|
/// | 301 or 302 after POST; 303 after any method except GET and HEAD | The method becomes GET, without a body. |
/// | 301 or 302 after another method; 307, 308 | The same method and body. If the body cannot be sent again, the redirect is the response. |
/// | To another origin | Without Authorization, Cookie, Proxy-Authorization, Host and Origin, and without the adapter. |
/// | From https to http, or to another scheme; without Location | The redirect is the response. |
/// | To a URL that was visited before, or beyond the limit | ``RedirectFailure`` |
///
/// If a later hop fails, that hop is retried, never the original request.
public struct RedirectRule: Hashable, Sendable {
    /// The maximum number of redirects. With 0, a redirect is the response.
    public let limit: Int

    /// A Boolean value that indicates whether a URL may be visited twice. This is useful with cookies.
    public let allowsCycles: Bool

    /// Returns a rule that follows redirects.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of redirects.
    ///   - allowsCycles: True if a URL may be visited twice.
    public static func follow(_ limit: Int = 20, allowsCycles: Bool = false) -> RedirectRule {
        RedirectRule(limit: max(0, limit), allowsCycles: allowsCycles)
    }

    /// The rule that follows no redirects.
    public static let none = RedirectRule(limit: 0, allowsCycles: false)
}

/// The error of a request that was redirected too often or in a cycle.
public enum RedirectFailure: RetryableError, Hashable {
    /// There were more redirects than the limit.
    case tooMany(limit: Int)
    /// The URL was visited before.
    case cycle

    /// Nil: the error is not retried.
    public var failureStage: FailureStage? { nil }
}

extension RedirectFailure: CustomStringConvertible {
    /// One sentence for logs.
    public var description: String {
        switch self {
        case .tooMany(let limit): "cannot follow the redirect: \(limit) redirects were followed, which is the maximum"
        case .cycle: "cannot follow the redirect: its URL was visited before"
        }
    }
}

/// The step after a response.
enum RedirectStep: Equatable {
    /// Return the response.
    case keep
    case follow(RedirectHop)
    case fail(RedirectFailure)
}

/// The request of one hop.
package struct RedirectHop: Hashable, Sendable {
    /// The caller's request, without the fields that must not be sent to this origin.
    package var request: RequestHead
    /// A Boolean value that indicates whether the request is sent with its body.
    package var hasBody: Bool
    /// The trace context of the attempt. These fields replace fields of the same name in the request.
    package var traceFields: [RequestHead.Field] = []
    /// A Boolean value that indicates whether the request is sent to the origin that the caller named.
    package var isFirstOrigin = true
    /// The method and URL of each previous hop.
    var visited: [String] = []

    /// The request with the trace context.
    package var traced: RequestHead {
        var request = request
        for field in traceFields { request[field.name] = field.value }
        return request
    }

    /// The number of redirects before this hop.
    package var count: Int { visited.count }

    /// The fields that are removed with the body.
    private static let ofBody = ["Content-Type", "Content-Length", "Content-Encoding", "Transfer-Encoding"]

    /// The fields that are not sent to another origin.
    private static let confined = ["Authorization", "Cookie", "Proxy-Authorization", "Host", "Origin"]

    /// Returns the step after a response.
    ///
    /// - Parameters:
    ///   - status: The status of the response.
    ///   - location: The field Location of the response; nil without one.
    ///   - sent: The URL of the request, which an adapter may have changed.
    ///   - isReplayable: True if the body can be sent again.
    ///   - idempotency: The field of the idempotency key, which a different request must not have.
    ///   - rule: The rules for redirects.
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
