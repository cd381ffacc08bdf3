/// Where a statement about revocation is from.
public enum RevocationSource: Hashable, Sendable {
    /// The OCSP response that came with the handshake.
    case stapledResponse
    /// An OCSP responder.
    case responder(url: String)
    /// A certificate revocation list: its file or URL.
    case list(String)
    /// Something else, for checkers of your own.
    case other(String)
}

extension RevocationSource: CustomStringConvertible {
    /// In a few words.
    public var description: String {
        switch self {
        case .stapledResponse: "the stapled response"
        case .responder(let url): "the responder \(url)"
        case .list(let place): "the list \(place)"
        case .other(let text): text
        }
    }
}
