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

/// What is wrong with a statement about revocation, or why there is none.
public enum RevocationProblem: Error, Hashable, Sendable {
    // MARK: Nobody was asked

    /// The certificate names no responder and no list that can be asked here, and none was given.
    case noSource
    /// ``RevocationFlags/networkAccessDisabled`` is set.
    case networkAccessDisabled
    /// The checker has nothing to fetch with.
    case noFetcher
    /// The evaluation answers at once, and this source would have to be waited for.
    case wouldWait

    // MARK: Nobody answered

    /// There was no answer within the time limit.
    case timedOut(Duration)
    /// The answer has more bytes than are allowed.
    case tooLarge(limit: Int)
    /// The answer was this HTTP status.
    case httpStatus(Int)
    /// Nobody could be reached. The text says what the system said.
    case unreachable(String)
    /// The evaluation was broken off.
    case cancelled

    // MARK: What was answered

    /// The bytes are no OCSP response or list.
    case malformed(String)
    /// The responder does not want to tell (responseStatus, RFC 6960, 4.2.1).
    case refused(OCSPRefusal)
    /// The responder does not know the certificate.
    case unknownToResponder
    /// The response is about other certificates.
    case otherCertificate
    /// The nonce in the response is not the one that was sent (RFC 9654).
    case wrongNonce
    /// The list is of another authority than the certificate's.
    case otherIssuer
    /// The list is not about certificates like this one, or not about all reasons (issuingDistributionPoint, RFC 5280, 5.2.5).
    case outOfScope
    /// The list only says what has changed (RFC 5280, 5.2.4).
    case deltaList
    /// The list is about certificates of several authorities (RFC 5280, 5.2.5 and 5.3.3).
    case indirectList
    /// It has a critical extension that is not understood here.
    case criticalExtension(identifier: String)

    // MARK: Who has signed it

    /// The signature is not by the key it should be by.
    case badSignature
    /// Neither the certificate's issuer nor a responder that the issuer has signed.
    case signedByStranger
    /// The issuer's certificate does not allow its key to sign lists (keyUsage, RFC 5280, 4.2.1.3).
    case mayNotSignLists
    /// The responder's certificate is not for signing OCSP responses (extendedKeyUsage, RFC 6960, 4.2.2.2).
    case mayNotSignResponses
    /// The responder's certificate is over, or has not begun.
    case responderNotValid(ClosedRange<TrustTime>)
    /// The responder's certificate is itself revoked.
    case responderRevoked
    /// It is signed with an algorithm that is too weak.
    case weakSignature(String)
    /// It is signed with an algorithm that cannot be checked here.
    case unsupportedAlgorithm(String)

    // MARK: When it counts

    /// It was good until then (nextUpdate).
    case expired(TrustTime)
    /// It is from a time to come (thisUpdate, producedAt).
    case notYetValid(TrustTime)
    /// It does not say until when it is good, and is too old (thisUpdate).
    case tooOld(TrustTime)
    /// A list that does not say until when it is good (RFC 5280, 5.1.2.5).
    case withoutNextUpdate

    // MARK: Others

    /// Of a checker of your own.
    case custom(String)
}

extension RevocationProblem: CustomStringConvertible {
    /// What is wrong, to be read behind the name of the source.
    public var description: String {
        switch self {
        case .noSource: "the certificate names nobody to ask, and no list is set"
        case .networkAccessDisabled: "network access is disabled"
        case .noFetcher: "nothing is set to fetch with"
        case .wouldWait: "others would have to be asked over the network, and this evaluation does not wait"
        case .timedOut(let limit): "did not answer within \(limit)"
        case .tooLarge(let limit): "has more than \(limit) bytes"
        case .httpStatus(let status): "answered with HTTP status \(status)"
        case .unreachable(let cause): "cannot be reached: \(cause)"
        case .cancelled: "was asked in vain: the evaluation was cancelled"
        case .malformed(let detail): "cannot be read: \(detail)"
        case .refused(let refusal): "does not tell: \(refusal)"
        case .unknownToResponder: "does not know the certificate"
        case .otherCertificate: "is about other certificates"
        case .wrongNonce: "has another nonce than was sent: it may be an old one"
        case .otherIssuer: "is of another authority"
        case .outOfScope: "is not about certificates like this one, or not about all reasons"
        case .deltaList: "only has changes (a delta list), which is not supported"
        case .indirectList: "is about certificates of several authorities (an indirect list), which is not supported"
        case .criticalExtension(let identifier):
            "has the critical extension \(identifier), which is not understood"
        case .badSignature: "is not signed by the key it should be signed by"
        case .signedByStranger: "is signed by neither the issuer nor a responder of the issuer's"
        case .mayNotSignLists: "is signed with a key that is not for lists"
        case .mayNotSignResponses: "is signed by a certificate that is not for OCSP responses"
        case .responderNotValid(let range):
            "is signed by a certificate that is valid only from \(range.lowerBound) to \(range.upperBound)"
        case .responderRevoked: "is signed by a certificate that is revoked"
        case .weakSignature(let algorithm): "is signed with \(algorithm), which is too weak"
        case .unsupportedAlgorithm(let algorithm): "is signed with \(algorithm), which is not supported"
        case .expired(let time): "has expired, it was good until \(time)"
        case .notYetValid(let time): "is not from before \(time): is the clock right?"
        case .tooOld(let time): "is from \(time), too old for one that does not say until when it is good"
        case .withoutNextUpdate: "does not say until when it is good"
        case .custom(let detail): detail
        }
    }
}

/// Why a certificate was taken back (CRLReason, RFC 5280, 5.3.1).
public struct RevocationReason: RawRepresentable, Hashable, Sendable {
    /// The number of CRLReason.
    public let rawValue: Int

    /// The reason with this number.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// None is told.
    public static let unspecified = RevocationReason(rawValue: 0)
    /// Somebody else has, or may have, the key.
    public static let keyCompromise = RevocationReason(rawValue: 1)
    /// Somebody else has, or may have, the authority's key.
    public static let caCompromise = RevocationReason(rawValue: 2)
    /// The names in it are not right any more.
    public static let affiliationChanged = RevocationReason(rawValue: 3)
    /// There is another for it.
    public static let superseded = RevocationReason(rawValue: 4)
    /// It is not needed any more.
    public static let cessationOfOperation = RevocationReason(rawValue: 5)
    /// For now; the only reason that may be taken back.
    public static let certificateHold = RevocationReason(rawValue: 6)
    /// It is not on hold any more. Only in delta lists.
    public static let removeFromCRL = RevocationReason(rawValue: 8)
    /// A right that is in it is not given any more.
    public static let privilegeWithdrawn = RevocationReason(rawValue: 9)
    /// Somebody else has the key of an attribute authority.
    public static let aaCompromise = RevocationReason(rawValue: 10)

    private static let names: [RevocationReason: String] = [
        unspecified: "unspecified", keyCompromise: "keyCompromise", caCompromise: "caCompromise",
        affiliationChanged: "affiliationChanged", superseded: "superseded",
        cessationOfOperation: "cessationOfOperation", certificateHold: "certificateHold",
        removeFromCRL: "removeFromCRL", privilegeWithdrawn: "privilegeWithdrawn", aaCompromise: "aaCompromise",
    ]
}

extension RevocationReason: CustomStringConvertible {
    /// The name in RFC 5280, or `reason 42`.
    public var description: String { Self.names[self] ?? "reason \(rawValue)" }
}
