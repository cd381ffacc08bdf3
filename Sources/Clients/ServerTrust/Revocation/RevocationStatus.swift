import X509

/// The revocation status of a chain.
public enum RevocationStatus: Hashable, Sendable {
    /// Every certificate except the anchor is reported as good.
    case good
    /// One certificate is revoked.
    case revoked(TrustCertificate, detail: RevocationRecord)
    /// The status of one certificate is unknown.
    case unknown(TrustCertificate, detail: RevocationDoubt)
}

/// The reason why the status of a certificate is unknown: the problem of each source, in the order of the queries.
public struct RevocationDoubt: Hashable, Sendable {
    /// The problems of the sources; at least one.
    public let obstacles: [RevocationObstacle]

    /// Creates the reason. An empty array means that there was no source.
    public init(_ obstacles: [RevocationObstacle]) {
        self.obstacles = obstacles.isEmpty ? [RevocationObstacle(.noSource)] : obstacles
    }

    /// Creates the reason with one problem that is independent of a source.
    public init(_ problem: RevocationProblem) {
        self.init([RevocationObstacle(problem)])
    }
}

extension RevocationDoubt: CustomStringConvertible {
    /// All problems, separated by semicolons.
    public var description: String { obstacles.map(\.description).joined(separator: "; ") }
}

/// The problem of one source that did not provide the status of a certificate.
public struct RevocationObstacle: Hashable, Sendable {
    /// The source; nil if no source was used.
    public let source: RevocationSource?

    /// The problem.
    public let problem: RevocationProblem

    /// Creates the problem of a source. Custom checkers use it.
    public init(_ problem: RevocationProblem, from source: RevocationSource? = nil) {
        self.source = source
        self.problem = problem
    }
}

extension RevocationObstacle: CustomStringConvertible {
    /// The source and its problem, for example `the stapled response has expired, it was valid until
    /// 2026-03-01T00:00:00Z`.
    public var description: String {
        source.map { "\($0) \(problem)" } ?? problem.description
    }
}

/// The source of a revocation status.
public enum RevocationSource: Hashable, Sendable {
    /// The OCSP response in the handshake.
    case stapledResponse
    /// An OCSP responder.
    case responder(url: String)
    /// A certificate revocation list, by its file or URL.
    case list(String)
    /// Another source, for custom checkers.
    case other(String)
}

extension RevocationSource: CustomStringConvertible {
    /// A short description.
    public var description: String {
        switch self {
        case .stapledResponse: "the stapled response"
        case .responder(let url): "the responder \(url)"
        case .list(let place): "the list \(place)"
        case .other(let text): text
        }
    }
}

/// The record of a revocation: its time, reason and source.
public struct RevocationRecord: Hashable, Sendable {
    /// The time of the revocation; nil if the source does not contain it.
    public let time: TrustTime?

    /// The reason of the revocation; nil if the source does not contain one.
    public let reason: RevocationReason?

    /// The source of the record.
    public let source: RevocationSource

    /// Creates a record. Custom checkers use it.
    public init(time: TrustTime? = nil, reason: RevocationReason? = nil, source: RevocationSource) {
        self.time = time
        self.reason = reason
        self.source = source
    }
}

extension RevocationRecord: CustomStringConvertible {
    /// The record as text, for example `since 2026-03-01T00:00:00Z, keyCompromise, according to the stapled response`.
    public var description: String {
        [time.map { "since \($0)" }, reason?.description, "according to \(source)"].compactMap { $0 }
            .joined(separator: ", ")
    }
}

/// The status of a certificate according to a signed response or list.
struct RevocationResult: Hashable, Sendable {
    /// The revocation; nil if the certificate is good.
    let record: RevocationRecord?

    /// The period in which the status may be used without another query: from thisUpdate, minus the clock tolerance,
    /// until nextUpdate. Nil if it may not be cached. For a permanent revocation, the period ends with the validity of
    /// the certificate.
    let validity: ClosedRange<TrustTime>?

    init(
        _ record: RevocationRecord?,
        from thisUpdate: TrustTime,
        to end: TrustTime?,
        about query: RevocationQuery,
        _ settings: RevocationSettings
    ) {
        self.record = record
        // Includes handshakes that began shortly before the response was issued.
        let start = thisUpdate.advanced(by: .zero - settings.clockSkew)
        let time = query.time
        var end = end
        if let record, record.reason != .certificateHold {
            end = max(end ?? query.certificate.notAfter, query.certificate.notAfter)
        }
        validity = end.flatMap { end in start <= time && time <= end ? start...end : nil }
    }

    var finding: RevocationFinding { record.map { .revoked($0) } ?? .good }
}

/// The revocation status of one certificate.
package enum RevocationFinding: Hashable, Sendable {
    case good
    case revoked(RevocationRecord)
    case unknown([RevocationObstacle])

    var isRevoked: Bool {
        guard case .revoked = self else { return false }
        return true
    }

    var isKnown: Bool {
        guard case .unknown = self else { return true }
        return false
    }

    /// The problems of the sources; empty if the status is known.
    var obstacles: [RevocationObstacle] {
        guard case .unknown(let obstacles) = self else { return [] }
        return obstacles
    }
}

/// A query for the status of one certificate, with the data to verify the responses.
struct RevocationQuery: Sendable {
    let certificate: TrustCertificate
    /// The next certificate of the validated chain.
    let issuer: TrustCertificate
    let time: TrustTime
    let allowsSHA1: Bool
    /// The stapled response; only for the server's certificate.
    let stapledResponse: [UInt8]?
    /// Local lists, in addition to those of the checker.
    let lists: [RevocationList]

    /// Returns a query for each certificate of a chain except the anchor, which has no issuer in the chain.
    static func all(about chain: ValidatedChain, in trust: ServerTrust) -> [RevocationQuery] {
        zip(chain.certificates, chain.certificates.dropFirst()).enumerated().map { index, link in
            RevocationQuery(
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

/// A checker of the revocation of chains: ``RevocationChecker``, or a custom one.
public protocol RevocationChecking: Sendable {
    /// Returns the status without waiting and without network access, for example from the stapled response of `trust`
    /// and from caches.
    ///
    /// - Parameters:
    ///   - chain: A chain that is otherwise valid.
    ///   - trust: The input of the evaluation. Its time is the time of the evaluation.
    ///   - flags: The permitted sources.
    func knownStatus(of chain: ValidatedChain, in trust: ServerTrust, flags: RevocationFlags) -> RevocationStatus

    /// Returns the status, and may wait for network requests, within the checker's own time and size limits. The
    /// default implementation calls ``knownStatus(of:in:flags:)``.
    func status(of chain: ValidatedChain, in trust: ServerTrust, flags: RevocationFlags) async -> RevocationStatus
}

extension RevocationChecking {
    /// Calls ``knownStatus(of:in:flags:)``, without network access.
    public func status(
        of chain: ValidatedChain,
        in trust: ServerTrust,
        flags: RevocationFlags
    ) async -> RevocationStatus {
        knownStatus(of: chain, in: trust, flags: flags)
    }
}

/// The reason why a source does not provide a usable revocation status.
public enum RevocationProblem: Error, Hashable, Sendable {
    // MARK: No query

    /// The certificate names no supported responder or list, and none was given.
    case noSource
    /// ``RevocationFlags/networkAccessDisabled`` is set.
    case networkAccessDisabled
    /// The checker has no fetcher.
    case noFetcher
    /// The evaluation does not wait, and this source requires a network query.
    case wouldWait
    /// The request for this certificate cannot be encoded.
    case unencodableRequest

    // MARK: No response

    /// There was no response within the time limit.
    case timedOut(Duration)
    /// The response exceeds the size limit in bytes.
    case tooLarge(limit: Int)
    /// The response has this HTTP status, which is not 200.
    case httpStatus(Int)
    /// The source cannot be reached. The text is the reason of the system.
    case unreachable(String)
    /// The evaluation was cancelled.
    case cancelled

    // MARK: Content

    /// The data is not an OCSP response or a revocation list.
    case malformed(String)
    /// The responder refused to answer (responseStatus, RFC 6960, 4.2.1).
    case refused(OCSPRefusal)
    /// The responder reports the status of the certificate as unknown.
    case unknownToResponder
    /// The response is for other certificates.
    case otherCertificate
    /// The nonce in the response differs from the nonce in the request (RFC 9654).
    case wrongNonce
    /// The issuer of the list is not the issuer of the certificate.
    case otherIssuer
    /// The list does not cover this certificate, or does not cover all reasons (issuingDistributionPoint, RFC 5280,
    /// 5.2.5).
    case outOfScope
    /// The list is a delta list, which contains only changes (RFC 5280, 5.2.4).
    case deltaList
    /// The list is an indirect list, which covers certificates of several authorities (RFC 5280, 5.2.5 and 5.3.3).
    case indirectList
    /// The response or list has a critical extension that is not supported.
    case criticalExtension(identifier: String)

    // MARK: Signer

    /// The signature does not match the key of the signer.
    case badSignature
    /// The signer is neither the certificate's issuer nor a responder that the issuer authorized.
    case unauthorizedSigner
    /// The issuer's certificate does not permit signing lists (keyUsage, RFC 5280, 4.2.1.3).
    case mayNotSignLists
    /// The responder's certificate does not permit signing OCSP responses (extendedKeyUsage, RFC 6960, 4.2.2.2).
    case mayNotSignResponses
    /// The responder's certificate is not within its validity period.
    case responderNotValid(ClosedRange<TrustTime>)
    /// The responder's certificate is revoked.
    case responderRevoked
    /// The signature algorithm is too weak.
    case weakSignature(String)
    /// The signature algorithm is not supported.
    case unsupportedAlgorithm(String)

    // MARK: Time

    /// The response or list expired at this time (nextUpdate).
    case expired(TrustTime)
    /// The response or list is dated in the future (thisUpdate, producedAt).
    case notYetValid(TrustTime)
    /// The response has no nextUpdate, and is older than permitted. The time is its thisUpdate.
    case tooOld(TrustTime)
    /// The list has no nextUpdate (RFC 5280, 5.1.2.5).
    case withoutNextUpdate

    // MARK: Other

    /// The problem of a custom checker.
    case custom(String)
}

extension RevocationProblem: CustomStringConvertible {
    /// The problem as text that follows the name of the source.
    public var description: String {
        switch self {
        case .noSource: "the certificate names no responder or list, and none is configured"
        case .networkAccessDisabled: "network access is disabled"
        case .noFetcher: "no HTTP fetcher is configured"
        case .wouldWait: "a network query is required, and this evaluation does not wait"
        case .unencodableRequest: "cannot be queried: the request cannot be encoded"
        case .timedOut(let limit): "did not answer within \(limit)"
        case .tooLarge(let limit): "has more than \(limit) bytes"
        case .httpStatus(let status): "returned HTTP status \(status)"
        case .unreachable(let cause): "cannot be reached: \(cause)"
        case .cancelled: "did not answer before the evaluation was cancelled"
        case .malformed(let detail): "cannot be read: \(detail)"
        case .refused(let refusal): "refused to answer: \(refusal)"
        case .unknownToResponder: "reports the certificate as unknown"
        case .otherCertificate: "is for other certificates"
        case .wrongNonce: "has a different nonce than the request, and may be replayed"
        case .otherIssuer: "is from another authority"
        case .outOfScope: "does not cover this certificate, or does not cover all reasons"
        case .deltaList: "is a delta list, which is not supported"
        case .indirectList: "is an indirect list, which is not supported"
        case .criticalExtension(let identifier):
            "has the critical extension \(identifier), which is not supported"
        case .badSignature: "has a signature that does not match the key of the signer"
        case .unauthorizedSigner: "is signed by neither the issuer nor a responder that the issuer authorized"
        case .mayNotSignLists: "is signed with a key that may not sign lists"
        case .mayNotSignResponses: "is signed with a certificate that may not sign OCSP responses"
        case .responderNotValid(let range):
            "is signed with a certificate that is valid only from \(range.lowerBound) to \(range.upperBound)"
        case .responderRevoked: "is signed with a revoked certificate"
        case .weakSignature(let algorithm): "is signed with \(algorithm), which is too weak"
        case .unsupportedAlgorithm(let algorithm): "is signed with \(algorithm), which is not supported"
        case .expired(let time): "has expired, it was valid until \(time)"
        case .notYetValid(let time): "is dated \(time), which is in the future; check the clock"
        case .tooOld(let time): "has no nextUpdate and is too old: it is dated \(time)"
        case .withoutNextUpdate: "has no nextUpdate"
        case .custom(let detail): detail
        }
    }
}

/// The reason of a revocation (CRLReason, RFC 5280, 5.3.1).
public struct RevocationReason: RawRepresentable, Hashable, Sendable {
    /// The number of CRLReason.
    public let rawValue: Int

    /// Creates the reason with this number.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// The reason is unspecified.
    public static let unspecified = RevocationReason(rawValue: 0)
    /// The private key is known or suspected to be compromised.
    public static let keyCompromise = RevocationReason(rawValue: 1)
    /// The private key of the authority is known or suspected to be compromised.
    public static let caCompromise = RevocationReason(rawValue: 2)
    /// The names or other data of the subject have changed.
    public static let affiliationChanged = RevocationReason(rawValue: 3)
    /// The certificate was replaced.
    public static let superseded = RevocationReason(rawValue: 4)
    /// The certificate is no longer needed.
    public static let cessationOfOperation = RevocationReason(rawValue: 5)
    /// The certificate is on hold. This is the only reason that can be withdrawn.
    public static let certificateHold = RevocationReason(rawValue: 6)
    /// The certificate is no longer on hold or has expired. Only in delta lists.
    public static let removeFromCRL = RevocationReason(rawValue: 8)
    /// A privilege in the certificate was withdrawn.
    public static let privilegeWithdrawn = RevocationReason(rawValue: 9)
    /// The private key of the attribute authority is known or suspected to be compromised.
    public static let aaCompromise = RevocationReason(rawValue: 10)

    private static let names: [RevocationReason: String] = [
        unspecified: "unspecified", keyCompromise: "keyCompromise", caCompromise: "caCompromise",
        affiliationChanged: "affiliationChanged", superseded: "superseded",
        cessationOfOperation: "cessationOfOperation", certificateHold: "certificateHold",
        removeFromCRL: "removeFromCRL", privilegeWithdrawn: "privilegeWithdrawn", aaCompromise: "aaCompromise",
    ]
}

extension RevocationReason: CustomStringConvertible {
    /// The name in RFC 5280, or `reason 42` for an unknown number.
    public var description: String { Self.names[self] ?? "reason \(rawValue)" }
}
