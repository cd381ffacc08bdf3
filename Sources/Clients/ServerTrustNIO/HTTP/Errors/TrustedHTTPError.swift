/// Why a request has no answer: what was tried, and what went wrong.
public struct TrustedHTTPError: Error, Hashable, Sendable {
    /// What went wrong.
    public let reason: TrustedHTTPFailure

    /// The method that was tried.
    public let method: String

    /// What was tried, the last URL if redirects were followed; nil if it could not be read.
    public let url: TrustedHTTPURL?

    init(reason: TrustedHTTPFailure, method: String, url: TrustedHTTPURL?) {
        self.reason = reason
        self.method = method
        self.url = url
    }
}

extension TrustedHTTPError: CustomStringConvertible {
    /// One sentence: what was tried, what the system said, and what to do.
    public var description: String {
        guard let url else { return "\(method): \(reason)" }
        return "\(method) \(url): \(reason)"
    }
}
