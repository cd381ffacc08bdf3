/// What is done about a redirect. A client's own following is not used: each hop is a request of its own, with the limits of its host.
///
/// | Rule (RFC 9110, 15.4) | |
/// |---|---|
/// | 301, 302 after POST, 303 after anything but GET and HEAD | becomes GET, without a body |
/// | 301, 302 otherwise, 307, 308 | the same method, with the body; where that cannot be sent again the redirect is the answer |
/// | to another origin | without Authorization, Cookie, Proxy-Authorization, Host and Origin, and no adapter is asked |
/// | from https to http, or to another scheme; without Location | is the answer |
/// | to a place where it has been before, or beyond the limit | ``RedirectFailure`` |
///
/// What was answered is done: whatever fails later is retried from the hop that failed, and never from the beginning.
public struct RedirectRule: Hashable, Sendable {
    /// How many are followed, at most; 0 for none: then a redirect is the answer.
    public let limit: Int

    /// Whether a place may be visited twice, as it may with cookies.
    public let allowsCycles: Bool

    /// Follows redirects.
    public static func follow(_ limit: Int = 20, allowsCycles: Bool = false) -> RedirectRule {
        RedirectRule(limit: max(0, limit), allowsCycles: allowsCycles)
    }

    /// Follows none: a redirect is the answer.
    public static let none = RedirectRule(limit: 0, allowsCycles: false)
}

/// Redirects without end: the request ends with this.
public enum RedirectFailure: RetryableError, Hashable {
    /// There were more than so many.
    case tooMany(limit: Int)
    /// It has been at that place before.
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

/// What a redirect leads to.
enum RedirectStep: Equatable {
    /// The redirect is the answer.
    case keep
    case follow(RedirectHop)
    case fail(RedirectFailure)
}

/// A request to one place.
package struct RedirectHop: Hashable, Sendable {
    /// The request as it was made, without what must not go to this place.
    package var request: PlainRequest
    /// Whether it has the body.
    package var hasBody: Bool
    /// What tells the server which trace the attempt is a part of; sent in the place of the request's own of these names.
    package var traceFields: [PlainRequest.Field] = []
    /// Whether it goes to the origin that the caller has named.
    package var isFirstOrigin = true
    /// Method and URL of the hops before.
    var visited: [String] = []

    /// The request as it is to be sent.
    package var traced: PlainRequest {
        var request = request
        for field in traceFields { request[field.name] = field.value }
        return request
    }

    /// How many redirects have led to it.
    package var count: Int { visited.count }

    /// What a request without a body does not have.
    private static let ofBody = ["Content-Type", "Content-Length", "Content-Encoding", "Transfer-Encoding"]

    /// What is kept from another origin.
    private static let confined = ["Authorization", "Cookie", "Proxy-Authorization", "Host", "Origin"]

    /// What an answer leads to.
    ///
    /// - Parameters:
    ///   - sent: The URL it was sent to, which an adapter may have changed.
    ///   - isReplayable: Whether the body can be sent again.
    ///   - idempotency: Which field has the key of the request, which another request must not have.
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
