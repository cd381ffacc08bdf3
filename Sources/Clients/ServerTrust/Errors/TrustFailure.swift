import LinuxSupport
import SwiftASN1

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

extension TrustFailure: CustomStringConvertible {
    /// What is wrong and, where something can be done, what.
    ///
    /// What strangers wrote is made safe to show, and no longer than a page.
    public var description: String { sentence.shown }

    private var sentence: String {
        switch self {
        case .noCertificates: "the server sent no certificate"
        case .unreadableCertificate(let detail): detail
        case .unreadableExtension(let subject, let name): "the extension \(name) of \(subject) cannot be read"
        case .nonconformingEncoding(let subject, let detail):
            "\(subject) is not encoded as the standards say: \(detail); it can be pinned, but is part of no valid chain"
        case .tooComplex(let detail): "the chain is too complicated: \(detail)"
        case .noAnchors(let detail): "there are no anchors: \(detail)"
        case .selfSigned(let subject):
            "\(subject) is self-signed: pin it, or add it to the anchors, if it is the right one"
        case .untrustedRoot(let subject): "the root \(subject) is not among the anchors"
        case .unknownIssuer(let subject, let issuer):
            "the issuer of \(subject), \(issuer), is neither an anchor nor sent by the server"
        case .badSignature(let subject): "the signature of \(subject) is not its issuer's"
        case .expired(let subject, let time): "\(subject) has expired, it was valid until \(time)"
        case .notYetValid(let subject, let time): "\(subject) is not valid before \(time): is the clock right?"
        case .notCertificateAuthority(let subject): "\(subject) has signed a certificate but is no authority"
        case .pathTooLong(let subject, let limit): "\(subject) allows \(limit) authorities below it, and there are more"
        case .keyUsage(let subject, let needed): "the key of \(subject) is not for \(needed)"
        case .extendedKeyUsage(let subject): "\(subject) is not for TLS servers"
        case .nameConstraints(let subject, let name, let authority):
            "\(authority) may not certify the name \(name) of \(subject)"
        case .criticalExtension(let subject, let identifier):
            "\(subject) has the critical extension \(identifier), which is not understood"
        case .extensionsInVersion1(let subject): "\(subject) has extensions, but its version has none"
        case .weakSignature(let subject, let algorithm): "\(subject) is signed with \(algorithm), which is too weak"
        case .weakKey(let subject, let bits): "the key of \(subject) has \(bits) bits, which are too few"
        case .invalidHost(let host): "\"\(host)\" is neither a host name nor an address"
        case .hostMismatch(let names): "the certificate is for \(names.joined(separator: ", "))"
        case .noSubjectAlternativeName(let subject): "\(subject) has no host name or address in subjectAltName"
        case .pinMismatch(let presented):
            "none of the pins is on the chain, which has \(presented.map(\.description).joined(separator: ", "))"
        case .notPinned(let subject): "neither \(subject) nor an authority above it is pinned"
        case .noPins: "there are no pins, and so nothing to trust"
        case .revoked(let subject, let detail): "\(subject) is revoked \(detail)"
        case .revocationUnknown(let subject, let detail): "whether \(subject) is revoked is not known: \(detail)"
        case .noEvaluator: "no evaluator is set for the host, and all hosts must be evaluated"
        case .invalidPattern(let pattern):
            "\"\(pattern)\" is no host, *.domain or **.domain: no host is trusted until that is set right"
        case .equalPatterns(let one, let other):
            "\"\(one)\" and \"\(other)\" are the same hosts: no host is trusted until one of them is taken away"
        case .noRevocationChecker:
            "revocation cannot be looked into: there is no checker, no stapled response and no list; set `revocation`"
        case .timedOut(let limit): "the evaluation took longer than \(limit)"
        case .cancelled: "the connection was closed before the evaluation was over"
        case .custom(let detail): detail
        }
    }
}

extension Error {
    /// The error in words, without the places in source files and the names of errors that some libraries add.
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
        return "not encoded as it must be (\(text[dot...].dropFirst()))"
    }
}

extension String {
    /// What may hold a stranger's words, safe for a log or a terminal: control characters are escaped, and what is longer than 2048
    /// characters is cut.
    package var shown: String {
        let limit = 2048
        // Escapes make a text longer: it is cut before and after.
        guard utf8.count > limit else { return printable }
        let text = String(prefix(limit)).printable
        return text.count == count ? text : "\(text.prefix(limit))\u{2026} (cut)"
    }
}

/// Why bytes or a file are no certificate that can be used.
public enum TrustCertificateError: Error, Hashable, Sendable {
    /// The bytes are no certificate, or one with algorithms that are not supported. The text says which.
    case unreadable(String)

    /// It is signed with an algorithm that is broken, MD5 for example.
    case brokenSignatureAlgorithm(String)

    /// Its RSA key is too short: the cryptography here reads none below 2048 bits.
    case weakKey(bits: Int)

    /// A file or directory cannot be read. `cause` is what the system said.
    case file(path: String, cause: String)

    /// Signature algorithms that prove nothing any more (RFC 6151, RFC 6149), by their identifiers.
    static let brokenAlgorithms: [ASN1ObjectIdentifier: String] = [
        [1, 2, 840, 113_549, 1, 1, 2]: "MD2 with RSA",
        [1, 2, 840, 113_549, 1, 1, 3]: "MD4 with RSA",
        [1, 2, 840, 113_549, 1, 1, 4]: "MD5 with RSA",
        [1, 2, 840, 10045, 4, 1]: "SHA-1 with ECDSA",
    ]
}

extension TrustCertificateError: CustomStringConvertible {
    /// What was tried, and what is wrong.
    public var description: String {
        switch self {
        case .unreadable(let detail): "cannot read the certificate: \(detail)"
        case .brokenSignatureAlgorithm(let name):
            "the certificate is signed with \(name), which is broken: get a new one"
        case .weakKey(let bits): "the certificate's key has \(bits) bits, which are too few: get a new one"
        case .file(let path, let cause): "cannot read certificates from \(path): \(cause)"
        }
    }
}
