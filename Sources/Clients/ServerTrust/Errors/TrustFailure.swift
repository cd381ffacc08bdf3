/// Why a server is not trusted. `subject` names the certificate that is to blame, as its description has it.
public enum TrustFailure: Error, Hashable, Sendable {
    // MARK: What the peer sent

    /// The peer sent no certificate.
    case noCertificates
    /// The peer's own certificate, the first, cannot be read or uses algorithms that are not supported.
    case unreadableCertificate(String)
    /// An extension of a certificate cannot be read (RFC 5280, 4.2).
    case unreadableExtension(subject: String, name: String)
    /// A certificate is not encoded as the standards say, though it can be read: RSA algorithms without the NULL that belongs there. It
    /// can be pinned without validation, and is part of no valid chain.
    case nonconformingEncoding(subject: String, detail: String)
    /// There are more certificates, signatures or names to look at than the limits of ``TrustRequirements`` allow.
    case tooComplex(String)

    // MARK: The way to an anchor

    /// There are no anchors at all; the text says why.
    case noAnchors(String)
    /// The server's certificate has signed itself and is no anchor.
    case selfSigned(subject: String)
    /// The chain ends in a certificate that has signed itself and is no anchor.
    case untrustedRoot(subject: String)
    /// Nobody of this name is among the anchors or the certificates the peer sent: an intermediate is missing, or the root is
    /// not trusted.
    case unknownIssuer(subject: String, issuer: String)
    /// The certificate was not signed by the key of any certificate with its issuer's name, or was changed since.
    case badSignature(subject: String)

    // MARK: What the certificates say

    /// Its time is over (RFC 5280, 4.1.2.5).
    case expired(subject: String, notAfter: TrustTime)
    /// Its time has not come.
    case notYetValid(subject: String, notBefore: TrustTime)
    /// It has signed another but may not (basicConstraints, RFC 5280, 4.2.1.9).
    case notCertificateAuthority(subject: String)
    /// There are more intermediates below it than it allows (pathLenConstraint, RFC 5280, 4.2.1.9).
    case pathTooLong(subject: String, limit: Int)
    /// Its key may not be used so (keyUsage, RFC 5280, 4.2.1.3); `needed` says for what.
    case keyUsage(subject: String, needed: String)
    /// It is not for TLS servers (extendedKeyUsage, RFC 5280, 4.2.1.12).
    case extendedKeyUsage(subject: String)
    /// A name in it is not one that the authority `constrainedBy` may certify (nameConstraints, RFC 5280, 4.2.1.10).
    case nameConstraints(subject: String, name: String, constrainedBy: String)
    /// It has a critical extension that is not understood here (RFC 5280, 4.2).
    case criticalExtension(subject: String, identifier: String)
    /// Extensions in a version of certificates that has none (RFC 5280, 4.1.2.1).
    case extensionsInVersion1(subject: String)
    /// It is signed with an algorithm that is too weak.
    case weakSignature(subject: String, algorithm: String)
    /// Its key is too short.
    case weakKey(subject: String, bits: Int)

    // MARK: Whose it is

    /// The text is neither a host name nor an address.
    case invalidHost(String)
    /// The certificate is for others: `names` are those in its subjectAltName (RFC 9525, 6).
    case hostMismatch(names: [String])
    /// The certificate has no subjectAltName with a host name or address. Its common name does not count (RFC 9525, 2).
    case noSubjectAlternativeName(subject: String)

    // MARK: Pins

    /// None of the pins is on the chain. `presented` are those of the chain's keys.
    case pinMismatch(presented: [PublicKeyPin])
    /// None of the pinned certificates or keys is on the chain.
    case notPinned(subject: String)
    /// There is nothing to compare with: a pinning evaluator without pins trusts nobody.
    case noPins

    // MARK: Revocation

    /// Its authority has taken it back.
    case revoked(subject: String, detail: RevocationRecord)
    /// Nobody could say whether it has been revoked, and that was required.
    case revocationUnknown(subject: String, detail: RevocationDoubt)

    // MARK: Configuration and course

    /// All hosts must be evaluated, and there is no evaluator for this one.
    case noEvaluator
    /// A pattern in a manager is none; until it is set right the manager trusts nobody.
    case invalidPattern(String)
    /// Two patterns in a manager stand for the same hosts, and so which of them decides is not known: one differs from the other in
    /// the case of letters, a dot at the end or the form of a name or address. Until that is set right the manager trusts nobody.
    case equalPatterns(String, String)
    /// Revocation was to be looked into, but nobody can tell anything of it: there is no checker (``ServerTrust/revocation``), no
    /// stapled response and no list.
    case noRevocationChecker
    /// The evaluators had not decided when a client's time limit was over.
    case timedOut(Duration)
    /// Nobody waited for the evaluators' decision any more: the connection was closed.
    case cancelled
    /// What an evaluator or closure of the user's own has decided.
    case custom(String)
}

/// Why a server was not trusted: the reason, the host that was meant, and the chain it was decided on.
public struct ServerTrustError: Error, Hashable, Sendable {
    /// What is wrong.
    public let reason: TrustFailure

    /// The host, as the evaluation was asked about it.
    public let host: String

    /// The server's certificate first. The chain that came nearest to being trusted; what the peer sent where none was built.
    public let chain: [TrustCertificate]

    /// Evaluators of your own throw these.
    public init(reason: TrustFailure, host: String, chain: [TrustCertificate] = []) {
        self.reason = reason
        self.host = host
        self.chain = chain
    }
}

extension ServerTrustError: CustomStringConvertible {
    /// One sentence.
    public var description: String { "the server of \(host.shown) is not trusted: \(reason)" }
}
