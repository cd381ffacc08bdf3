/// What is known about the revocation of a chain.
public enum RevocationStatus: Hashable, Sendable {
    /// Every certificate but the anchor is said to be good.
    case good
    /// One of them has been taken back.
    case revoked(TrustCertificate, detail: RevocationRecord)
    /// Nobody has said enough about one of them.
    case unknown(TrustCertificate, detail: RevocationDoubt)
}

/// Why it is not known whether a certificate has been revoked: what each source lacked, in the order in which they were asked.
public struct RevocationDoubt: Hashable, Sendable {
    /// At least one.
    public let obstacles: [RevocationObstacle]

    /// No obstacles mean that there was no source to ask.
    public init(_ obstacles: [RevocationObstacle]) {
        self.obstacles = obstacles.isEmpty ? [RevocationObstacle(.noSource)] : obstacles
    }

    /// One that has to do with no source.
    public init(_ problem: RevocationProblem) {
        self.init([RevocationObstacle(problem)])
    }
}

extension RevocationDoubt: CustomStringConvertible {
    /// All of them.
    public var description: String { obstacles.map(\.description).joined(separator: "; ") }
}

/// Why one source did not say whether a certificate has been revoked.
public struct RevocationObstacle: Hashable, Sendable {
    /// Nil where no source was asked.
    public let source: RevocationSource?

    /// What was wrong.
    public let problem: RevocationProblem

    /// Checkers of your own make these.
    public init(_ problem: RevocationProblem, from source: RevocationSource? = nil) {
        self.source = source
        self.problem = problem
    }
}

extension RevocationObstacle: CustomStringConvertible {
    /// `the stapled response has expired, it was good until 2026-03-01T00:00:00Z`.
    public var description: String {
        source.map { "\($0) \(problem)" } ?? problem.description
    }
}

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
