import LinuxSupport
import SwiftASN1

/// The reason why a server is not trusted. `subject` is the description of the certificate that caused the failure
/// (``TrustCertificate/description``).
public enum TrustFailure: Error, Hashable, Sendable {
    // MARK: Certificates of the peer

    /// The peer sent no certificate.
    case noCertificates
    /// The peer's own certificate, which is the first one, cannot be parsed or uses unsupported algorithms.
    case unreadableCertificate(String)
    /// An extension of a certificate cannot be parsed (RFC 5280, 4.2).
    case unreadableExtension(subject: String, name: String)
    /// A certificate can be parsed, but its encoding violates the standards: an RSA algorithm identifier lacks its NULL
    /// parameters. Such a certificate can be pinned without chain validation. No chain with it is valid.
    case nonconformingEncoding(subject: String, detail: String)
    /// The number of certificates, signatures or names exceeds the limits of ``TrustRequirements``.
    case tooComplex(String)

    // MARK: Chain building

    /// There are no anchors. The text contains the reason.
    case noAnchors(String)
    /// The server's certificate is self-signed and not an anchor.
    case selfSigned(subject: String)
    /// The chain ends in a self-signed certificate that is not an anchor.
    case untrustedRoot(subject: String)
    /// No anchor and no certificate that the peer sent has the name of the issuer. An intermediate is missing, or the
    /// root is not trusted.
    case unknownIssuer(subject: String, issuer: String)
    /// No certificate with the issuer's name has the key that signed this certificate, or the certificate was modified
    /// after signing.
    case badSignature(subject: String)

    // MARK: Fields and extensions

    /// The certificate has expired (RFC 5280, 4.1.2.5).
    case expired(subject: String, notAfter: TrustTime)
    /// The certificate is not valid yet (RFC 5280, 4.1.2.5).
    case notYetValid(subject: String, notBefore: TrustTime)
    /// The certificate issued another one, but is not a certificate authority (basicConstraints, RFC 5280, 4.2.1.9).
    case notCertificateAuthority(subject: String)
    /// The chain has more intermediates below the authority than its pathLenConstraint permits (RFC 5280, 4.2.1.9).
    case pathTooLong(subject: String, limit: Int)
    /// The key usage does not permit the use of the key (keyUsage, RFC 5280, 4.2.1.3). `needed` is the required use.
    case keyUsage(subject: String, needed: String)
    /// The certificate is not valid for TLS servers (extendedKeyUsage, RFC 5280, 4.2.1.12).
    case extendedKeyUsage(subject: String)
    /// The certificate contains a name that the authority `constrainedBy` may not certify (nameConstraints, RFC 5280,
    /// 4.2.1.10).
    case nameConstraints(subject: String, name: String, constrainedBy: String)
    /// The certificate has a critical extension that is not supported (RFC 5280, 4.2).
    case criticalExtension(subject: String, identifier: String)
    /// The certificate has extensions, but is not version 3 (RFC 5280, 4.1.2.1).
    case extensionsInVersion1(subject: String)
    /// The signature algorithm is too weak.
    case weakSignature(subject: String, algorithm: String)
    /// The RSA key is too short. `bits` is its length.
    case weakKey(subject: String, bits: Int)

    // MARK: Host

    /// The text is neither a host name nor an IP address.
    case invalidHost(String)
    /// The certificate is for other hosts. `names` are the host names and addresses in its subjectAltName (RFC 9525,
    /// 6).
    case hostMismatch(names: [String])
    /// The certificate has no subjectAltName with a host name or address. Its common name does not count (RFC 9525, 2).
    case noSubjectAlternativeName(subject: String)

    // MARK: Pins

    /// None of the pins matches a key of the chain. `presented` are the pins of the chain's keys.
    case pinMismatch(presented: [PublicKeyPin])
    /// None of the pinned certificates or keys is on the chain.
    case notPinned(subject: String)
    /// A pinning evaluator has no pins, so it trusts no server.
    case noPins

    // MARK: Revocation

    /// The authority has revoked the certificate.
    case revoked(subject: String, detail: RevocationRecord)
    /// The revocation status is unknown, and a positive response was required.
    case revocationUnknown(subject: String, detail: RevocationDoubt)

    // MARK: Configuration and execution

    /// The host has no evaluator, and all hosts must be evaluated.
    case noEvaluator
    /// A manager has an invalid host pattern. It trusts no server until the pattern is corrected.
    case invalidPattern(String)
    /// A manager has two patterns for the same hosts, so it is ambiguous which evaluator applies. The patterns differ
    /// only in letter case, a trailing dot, or the form of a name or address. The manager trusts no server until one
    /// pattern is removed.
    case equalPatterns(String, String)
    /// Revocation cannot be checked, because there is no checker (``ServerTrust/revocation``), no stapled response and
    /// no revocation list.
    case noRevocationChecker
    /// The evaluators did not decide within the time limit of the client.
    case timedOut(Duration)
    /// The evaluation was cancelled, for example because the connection was closed.
    case cancelled
    /// The reason of a custom evaluator or closure.
    case custom(String)
}

/// The error of a server that is not trusted: the reason, the host and the chain.
public struct ServerTrustError: Error, Hashable, Sendable {
    /// The reason.
    public let reason: TrustFailure

    /// The host, as it was passed to the evaluation.
    public let host: String

    /// The certificates, the server's own first: the chain that came nearest to being trusted, or the certificates that
    /// the peer sent if no chain was built.
    public let chain: [TrustCertificate]

    /// A Boolean value that indicates whether keys are pinned, and not certificates.
    package var pinsKeys = false

    /// Creates an error. Custom evaluators throw it.
    public init(reason: TrustFailure, host: String, chain: [TrustCertificate] = []) {
        self.reason = reason
        self.host = host
        self.chain = chain
    }
}

extension ServerTrustError: CustomStringConvertible {
    /// One sentence with the host and the reason.
    public var description: String { "the server of \(host.shown) is not trusted: \(reason)" }
}

extension TrustFailure: CustomStringConvertible {
    /// One sentence with the reason, and a hint if there is one.
    ///
    /// Text from certificates is escaped, and the sentence is cut at 2048 characters.
    public var description: String { sentence.shown }

    private var sentence: String {
        switch self {
        case .noCertificates: "the server sent no certificate"
        case .unreadableCertificate(let detail): detail
        case .unreadableExtension(let subject, let name): "cannot read the extension \(name) of \(subject)"
        case .nonconformingEncoding(let subject, let detail):
            "the encoding of \(subject) violates the standards: \(detail); it can be pinned, but no chain with it is valid"
        case .tooComplex(let detail): "the chain exceeds the limits: \(detail)"
        case .noAnchors(let detail): "there are no anchors: \(detail)"
        case .selfSigned(let subject):
            "\(subject) is self-signed and not an anchor; if it is the expected one, pin it or add it to the anchors"
        case .untrustedRoot(let subject): "the root \(subject) is not among the anchors"
        case .unknownIssuer(let subject, let issuer):
            "the issuer of \(subject), \(issuer), is neither an anchor nor sent by the server"
        case .badSignature(let subject): "the signature of \(subject) does not match the key of its issuer"
        case .expired(let subject, let time): "\(subject) has expired, it was valid until \(time)"
        case .notYetValid(let subject, let time): "\(subject) is not valid before \(time); check the clock"
        case .notCertificateAuthority(let subject):
            "\(subject) issued a certificate, but is not a certificate authority"
        case .pathTooLong(let subject, let limit):
            "\(subject) allows at most \(limit) authorities below it, and the chain has more"
        case .keyUsage(let subject, let needed): "the key of \(subject) may not be used for \(needed)"
        case .extendedKeyUsage(let subject): "\(subject) is not valid for TLS servers"
        case .nameConstraints(let subject, let name, let authority):
            "\(authority) may not certify the name \(name) of \(subject)"
        case .criticalExtension(let subject, let identifier):
            "\(subject) has the critical extension \(identifier), which is not supported"
        case .extensionsInVersion1(let subject): "\(subject) has extensions, but is not version 3"
        case .weakSignature(let subject, let algorithm): "\(subject) is signed with \(algorithm), which is too weak"
        case .weakKey(let subject, let bits): "the key of \(subject) is too short: \(bits) bits"
        case .invalidHost(let host): "\"\(host)\" is neither a host name nor an address"
        case .hostMismatch(let names): "the certificate is for \(names.joined(separator: ", "))"
        case .noSubjectAlternativeName(let subject): "\(subject) has no host name or address in subjectAltName"
        case .pinMismatch(let presented):
            "none of the pins is on the chain, whose pins are \(presented.map(\.description).joined(separator: ", "))"
        case .notPinned(let subject): "neither \(subject) nor an authority above it is pinned"
        case .noPins: "there are no pins, so no server is trusted"
        case .revoked(let subject, let detail): "\(subject) is revoked \(detail)"
        case .revocationUnknown(let subject, let detail): "the revocation status of \(subject) is unknown: \(detail)"
        case .noEvaluator: "no evaluator is set for the host, and all hosts must be evaluated"
        case .invalidPattern(let pattern):
            "\"\(pattern)\" is not a host, *.domain or **.domain; no server is trusted until it is corrected"
        case .equalPatterns(let one, let other):
            "\"\(one)\" and \"\(other)\" match the same hosts; no server is trusted until one of them is removed"
        case .noRevocationChecker:
            "cannot check revocation: there is no checker, no stapled response and no list; set `revocation`"
        case .timedOut(let limit): "the evaluation took longer than \(limit)"
        case .cancelled: "the evaluation was cancelled"
        case .custom(let detail): detail
        }
    }
}

extension Error {
    /// The text of the error, without the source locations and type names that some libraries add.
    package var plainText: String {
        var words = String(describing: self).split(at: " ").filter { !$0.contains(".swift:") }
        // `ASN1Error.invalidASN1Object: the words`
        if words.count > 1, words[0].hasSuffix(":"), words[0].contains("Error.") { words.removeFirst() }
        var text = words.joined(separator: " ")
        while text.last == ":" { text.removeLast() }
        // `ASN1Error.truncatedASN1Field`
        guard words.count == 1, text.contains("Error."), let dot = text.unicodeScalars.lastIndex(of: ".") else {
            return text
        }
        return "not a valid encoding (\(text[dot...].dropFirst()))"
    }
}

extension String {
    /// The text made safe for a log or a terminal: control characters are escaped, and text beyond 2048 characters is
    /// cut.
    package var shown: String {
        let limit = 2048
        // Escapes make a text longer, so it is cut before and after escaping.
        guard utf8.count > limit else { return printable }
        let text = String(prefix(limit)).printable
        return text.count == count ? text : "\(text.prefix(limit))\u{2026} (cut)"
    }
}

/// The reason why bytes or a file are not a usable certificate.
public enum TrustCertificateError: Error, Hashable, Sendable {
    /// The bytes are not a certificate, or use unsupported algorithms. The text contains the details.
    case unreadable(String)

    /// The certificate is signed with a broken algorithm, for example MD5.
    case brokenSignatureAlgorithm(String)

    /// The RSA key is too short: the cryptographic library accepts no key below 2048 bits.
    case weakKey(bits: Int)

    /// A file or directory cannot be read. `cause` is the text of the system.
    case file(path: String, cause: String)

    /// Broken signature algorithms (RFC 6151, RFC 6149), by object identifier.
    static let brokenAlgorithms: [ASN1ObjectIdentifier: String] = [
        [1, 2, 840, 113_549, 1, 1, 2]: "MD2 with RSA",
        [1, 2, 840, 113_549, 1, 1, 3]: "MD4 with RSA",
        [1, 2, 840, 113_549, 1, 1, 4]: "MD5 with RSA",
        [1, 2, 840, 10045, 4, 1]: "SHA-1 with ECDSA",
    ]
}

extension TrustCertificateError: CustomStringConvertible {
    /// The action and the reason.
    public var description: String {
        switch self {
        case .unreadable(let detail): "cannot read the certificate: \(detail)"
        case .brokenSignatureAlgorithm(let name):
            "cannot use the certificate: it is signed with \(name), which is broken; replace it"
        case .weakKey(let bits): "cannot use the certificate: its key has only \(bits) bits; replace it"
        case .file(let path, let cause): "cannot read certificates from \(path): \(cause)"
        }
    }
}
