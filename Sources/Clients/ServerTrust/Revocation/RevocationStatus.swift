import X509

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

/// What a signed statement says about a certificate.
struct RevocationAnswer: Hashable, Sendable {
    /// Nil is good.
    let record: RevocationRecord?

    /// Until nextUpdate, and from thisUpdate by the slower of two clocks: when it may be said again without asking. Nil if it may not.
    /// What is taken back for good stays so until the certificate's end.
    let validity: ClosedRange<TrustTime>?

    init(
        _ record: RevocationRecord?,
        from thisUpdate: TrustTime,
        to end: TrustTime?,
        about question: RevocationQuestion,
        _ settings: RevocationSettings
    ) {
        self.record = record
        // A handshake that begins a second before its question is answered may remember the answer.
        let start = thisUpdate.advanced(by: .zero - settings.clockSkew)
        let time = question.time
        var end = end
        if let record, record.reason != .certificateHold {
            end = max(end ?? question.certificate.notAfter, question.certificate.notAfter)
        }
        validity = end.flatMap { end in start <= time && time <= end ? start...end : nil }
    }

    var finding: RevocationFinding { record.map { .revoked($0) } ?? .good }
}

/// What is known about one certificate.
package enum RevocationFinding: Hashable, Sendable {
    case good
    case revoked(RevocationRecord)
    case unknown([RevocationObstacle])

    var isRevoked: Bool {
        guard case .revoked = self else { return false }
        return true
    }
}

/// One certificate to learn about, and what is needed to judge the answers.
struct RevocationQuestion: Sendable {
    let certificate: TrustCertificate
    /// The next one on the validated chain.
    let issuer: TrustCertificate
    let time: TrustTime
    let allowsSHA1: Bool
    /// Only for the server's own certificate.
    let stapledResponse: [UInt8]?
    /// At hand, besides those of the checker.
    let lists: [RevocationList]

    /// One for each certificate but the anchor, which nobody is above of.
    static func all(about chain: ValidatedChain, in trust: ServerTrust) -> [RevocationQuestion] {
        zip(chain.certificates, chain.certificates.dropFirst()).enumerated().map { index, link in
            RevocationQuestion(
                certificate: link.0,
                issuer: link.1,
                time: trust.time,
                allowsSHA1: trust.requirements.allowsSHA1,
                stapledResponse: index == 0 ? trust.stapledOCSPResponse : nil,
                lists: trust.revocationLists
            )
        }
    }
}

/// Who can tell whether the certificates of a chain have been revoked: ``RevocationChecker``, or one of your own.
public protocol RevocationChecking: Sendable {
    /// What can be told at once and without the network: from the stapled response of `trust` and from caches.
    ///
    /// - Parameters:
    ///   - chain: A chain that is valid otherwise.
    ///   - trust: What it was built from; its time is the time that counts.
    ///   - flags: What may be asked.
    func knownStatus(of chain: ValidatedChain, in trust: ServerTrust, flags: RevocationFlags) -> RevocationStatus

    /// What can be told with the network, within limits of time and size of its own. Without an own implementation the same as
    /// ``knownStatus(of:in:flags:)``.
    func status(of chain: ValidatedChain, in trust: ServerTrust, flags: RevocationFlags) async -> RevocationStatus
}

extension RevocationChecking {
    /// Asks nobody.
    public func status(
        of chain: ValidatedChain,
        in trust: ServerTrust,
        flags: RevocationFlags
    ) async -> RevocationStatus {
        knownStatus(of: chain, in: trust, flags: flags)
    }
}
