import Crypto
import LinuxSupport
import SwiftASN1
public import X509

/// A parsed certificate with its DER encoding. Copies share their content.
///
/// It corresponds to `SecCertificate` on other systems.
public struct TrustCertificate: Sendable {
    private let content: Content

    /// Parses a certificate in DER.
    ///
    /// A certificate whose RSA algorithms lack the required NULL is parsed too, for its names, key and pins. No chain
    /// with it is valid (``TrustFailure/nonconformingEncoding(subject:detail:)``).
    ///
    /// - Throws: ``TrustCertificateError`` if the bytes are not a certificate, or if it uses unsupported algorithms:
    ///   RSASSA-PSS, DSA, Ed448, or curves other than P-256, P-384, P-521 and Ed25519.
    public init(derEncoded der: [UInt8]) throws(TrustCertificateError) {
        do {
            content = try Content(der: der)
        } catch let error as TrustCertificateError {
            throw error
        } catch {
            throw .unreadable(error.plainText)
        }
    }

    /// Creates a certificate from one of X509.
    ///
    /// - Throws: ``TrustCertificateError`` as ``init(derEncoded:)``.
    public init(_ x509: Certificate) throws(TrustCertificateError) {
        var serializer = DER.Serializer()
        do {
            try serializer.serialize(x509)
        } catch {
            throw .unreadable(error.plainText)
        }
        try self.init(derEncoded: serializer.serializedBytes)
    }

    /// The DER encoding, as it was parsed.
    public var derRepresentation: [UInt8] { content.der }

    /// The certificate as a type of swift-certificates. That library does not parse an RSA key without the NULL of its
    /// algorithm. For such a certificate, this is a copy with the NULL, while ``derRepresentation`` and ``publicKey``
    /// remain unchanged.
    public var x509: Certificate { content.x509 }

    /// The public key.
    public var publicKey: ServerPublicKey { content.publicKey }

    /// The first second of the validity period.
    public var notBefore: TrustTime { content.fields.notBefore }

    /// The last second of the validity period.
    public var notAfter: TrustTime { content.fields.notAfter }

    /// The SHA-256 digest of the DER encoding: 32 bytes.
    public var fingerprint: [UInt8] { content.fingerprint }

    /// The fields that were parsed from the DER encoding.
    var fields: CertificateFields { content.fields }

    /// The names in subjectAltName; empty if there is no such extension, nil if it cannot be parsed.
    var alternativeNames: [GeneralName]? { content.alternativeNames }

    /// Returns the nameConstraints; nil if there are none.
    func nameConstraints() throws(TrustFailure) -> NameConstraints? {
        do {
            return try content.nameConstraints.get()
        } catch {
            throw .unreadableExtension(subject: description, name: "nameConstraints")
        }
    }

    /// Returns whether the issuer's key signed this certificate.
    func isSigned(by issuer: TrustCertificate) -> Bool {
        issuer.x509.publicKey.isValidSignature(
            fields.signature,
            for: fields.body,
            signatureAlgorithm: x509.signatureAlgorithm
        )
    }

    /// The issuer's name, for example `CN=Root,O=Forge`.
    package var issuerName: String { x509.issuer.readable }

    /// A Boolean value that indicates whether issuer and subject are the same name. Such a certificate is not
    /// necessarily self-signed.
    public var isSelfIssued: Bool { x509.issuer == x509.subject }

    private final class Content: Sendable {
        let der: [UInt8]
        let fields: CertificateFields
        let x509: Certificate
        let publicKey: ServerPublicKey
        let fingerprint: [UInt8]
        /// Parsed once, because each handshake needs them; nil if they cannot be parsed.
        let alternativeNames: [GeneralName]?
        /// Parsed once, because the extension may be long.
        let nameConstraints: Result<NameConstraints?, any Error>

        init(der: [UInt8]) throws {
            let fields = try CertificateFields(der: der)
            if let name = TrustCertificateError.brokenAlgorithms[fields.signatureAlgorithm] {
                throw TrustCertificateError.brokenSignatureAlgorithm(name)
            }
            if let bits = fields.rsaBits, bits < 2048 { throw TrustCertificateError.weakKey(bits: bits) }
            x509 = try Certificate(
                derEncoded: fields.keyLacksParameters ? try fields.addingKeyParameters(to: der) : der
            )
            // A non-DER encoding of r and s would change the bytes without changing the signature.
            guard fields.signature.elementsEqual(x509.signature.rawRepresentation) else {
                throw TrustCertificateError.unreadable("the signature is not encoded in DER")
            }
            alternativeNames = try? Self.named(x509, .X509ExtensionID.subjectAlternativeName) {
                Array(try $0.subjectAlternativeNames ?? SubjectAlternativeNames())
            }
            nameConstraints = Result { [x509] in
                try Self.named(x509, .X509ExtensionID.nameConstraints) { try $0.nameConstraints }
            }
            self.der = der
            self.fields = fields
            publicKey = ServerPublicKey(subjectPublicKeyInfo: fields.subjectPublicKeyInfo)
            fingerprint = Array(SHA256.hash(data: der))
        }

        /// Parses an extension that contains names.
        private static func named<Value>(
            _ x509: Certificate,
            _ identifier: ASN1ObjectIdentifier,
            _ read: (Certificate.Extensions) throws -> Value
        ) throws -> Value {
            if let entry = x509.extensions[oid: identifier] { try DER.parse(entry.value).requireSmallSets() }
            return try read(x509.extensions)
        }
    }
}

extension TrustCertificate: Hashable {
    /// Returns whether the DER encodings are equal.
    public static func == (one: TrustCertificate, other: TrustCertificate) -> Bool {
        one.content === other.content || one.content.der == other.content.der
    }

    /// Hashes the fingerprint.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(content.fingerprint)
    }
}

extension TrustCertificate: CustomStringConvertible {
    /// The common name of the subject. Without a common name, the whole subject; without a subject, the first name in
    /// subjectAltName. Invisible characters are escaped.
    public var description: String {
        // The last attribute is the most specific.
        let attributes = x509.subject.flatMap { Array($0) }
        let common = attributes.last { $0.type == .NameAttributes.commonName }
        if let common { return AttributeText(common.value).readable.visible }
        if !x509.subject.isEmpty { return x509.subject.readable }
        return subjectAlternativeNames.first?.visible ?? "an unnamed certificate"
    }
}

extension TrustCertificate {
    /// The host names and IP addresses in subjectAltName (RFC 5280, 4.2.1.6) as text; empty if there are none or they
    /// cannot be parsed.
    public var subjectAlternativeNames: [String] {
        (alternativeNames ?? []).compactMap { name in
            switch name {
            case .dnsName(let text): text
            case .ipAddress(let bytes): WireAddress(bytes: bytes.bytes)?.description
            default: nil
            }
        }
    }
}

/// The public key of a certificate in its encoded form (SubjectPublicKeyInfo, RFC 5280, 4.1).
///
/// It corresponds to `SecKey` on other systems. Two certificates with the same key, for example after a renewal, have
/// equal keys.
public struct ServerPublicKey: Hashable, Sendable {
    /// The algorithm and the key in DER.
    public let subjectPublicKeyInfo: [UInt8]

    /// Creates a key from DER, for example from the output of `openssl pkey -pubout -outform DER`. Nothing is verified.
    /// Invalid bytes equal no key of a certificate.
    public init(subjectPublicKeyInfo: [UInt8]) {
        self.subjectPublicKeyInfo = subjectPublicKeyInfo
    }
}

extension TrustCertificate {
    func basicConstraints() throws(TrustFailure) -> BasicConstraints? {
        try read("basicConstraints") { try $0.basicConstraints }
    }

    func keyUsage() throws(TrustFailure) -> KeyUsage? {
        try read("keyUsage") { try $0.keyUsage }
    }

    func extendedKeyUsage() throws(TrustFailure) -> ExtendedKeyUsage? {
        try read("extendedKeyUsage") { try $0.extendedKeyUsage }
    }

    func readableAlternativeNames() throws(TrustFailure) -> [GeneralName] {
        guard let alternativeNames else {
            throw .unreadableExtension(subject: description, name: "subjectAltName")
        }
        return alternativeNames
    }

    /// A Boolean value that indicates whether basicConstraints marks the certificate as a certificate authority.
    var isAuthority: Bool {
        guard case .isCertificateAuthority = try? basicConstraints() else { return false }
        return true
    }

    /// A Boolean value that indicates whether the certificate requires a stapled response (must-staple: status_request
    /// in the TLS feature extension, RFC 7633). An extension that cannot be parsed counts as a requirement.
    var requiresStapledResponse: Bool {
        guard let feature = x509.extensions.first(where: { $0.oid == [1, 3, 6, 1, 5, 5, 7, 1, 24] }) else {
            return false
        }
        guard let node = try? DER.parse(feature.value),
            let features = try? DER.sequence(of: Int.self, identifier: .sequence, rootNode: node)
        else { return true }
        // status_request, status_request_v2
        return features.contains(5) || features.contains(17)
    }

    private func read<Value>(
        _ name: String,
        _ body: (Certificate.Extensions) throws -> Value?
    ) throws(TrustFailure) -> Value? {
        do {
            return try body(x509.extensions)
        } catch {
            throw .unreadableExtension(subject: description, name: name)
        }
    }
}
