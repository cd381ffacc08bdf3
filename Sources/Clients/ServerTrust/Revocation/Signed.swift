import SwiftASN1
import X509

/// Bytes that somebody has signed, of an OCSP response or a list.
struct Signed: Sendable {
    private let bytes: ArraySlice<UInt8>
    private let algorithm: ASN1ObjectIdentifier
    private let signature: ArraySlice<UInt8>

    private static let algorithms: [ASN1ObjectIdentifier: Certificate.SignatureAlgorithm] = [
        [1, 2, 840, 113_549, 1, 1, 5]: .sha1WithRSAEncryption,
        [1, 2, 840, 113_549, 1, 1, 11]: .sha256WithRSAEncryption,
        [1, 2, 840, 113_549, 1, 1, 12]: .sha384WithRSAEncryption,
        [1, 2, 840, 113_549, 1, 1, 13]: .sha512WithRSAEncryption,
        [1, 2, 840, 10045, 4, 3, 2]: .ecdsaWithSHA256,
        [1, 2, 840, 10045, 4, 3, 3]: .ecdsaWithSHA384,
        [1, 2, 840, 10045, 4, 3, 4]: .ecdsaWithSHA512,
        [1, 3, 101, 112]: .ed25519,
    ]

    init(_ body: ArraySlice<UInt8>, algorithm: ASN1Node, signature: ASN1Node) throws {
        bytes = body
        self.algorithm = try CertificateFields.identifier(of: algorithm)
        let bits = try ASN1BitString(derEncoded: signature)
        guard bits.paddingBits == 0 else { throw ASN1Error.invalidASN1Object(reason: "a signature is whole bytes") }
        self.signature = bits.bytes
    }

    /// Throws if the certificate's key has not signed it, or in a way that proves nothing.
    func check(by signer: TrustCertificate, allowsSHA1: Bool) throws(RevocationProblem) {
        guard let known = Self.algorithms[algorithm] else {
            if let name = TrustCertificateError.brokenAlgorithms[algorithm] { throw .weakSignature(name) }
            throw .unsupportedAlgorithm(algorithm.description)
        }
        guard known != .sha1WithRSAEncryption || allowsSHA1 else { throw .weakSignature("SHA-1 with RSA") }
        guard signer.x509.publicKey.isValidSignature(signature, for: bytes, signatureAlgorithm: known) else {
            throw .badSignature
        }
    }
}

extension Certificate.Extensions {
    /// Reads a sequence of extensions, each of which there is once (Extensions, RFC 5280, 4.2).
    init(encoded node: ASN1Node) throws {
        try self.init(try DER.sequence(of: Certificate.Extension.self, identifier: .sequence, rootNode: node))
    }

    /// Throws if there is a critical one beside those that are heeded.
    func requireNoCritical(but heeded: Set<ASN1ObjectIdentifier> = []) throws(RevocationProblem) {
        for entry in self where entry.critical && !heeded.contains(entry.oid) {
            throw .criticalExtension(identifier: entry.oid.description)
        }
    }
}
