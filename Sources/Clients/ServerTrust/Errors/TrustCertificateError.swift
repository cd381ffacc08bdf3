import SwiftASN1

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
