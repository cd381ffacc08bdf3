import Crypto
import LinuxSupport
import SwiftASN1
public import X509

/// A certificate that has been read, with the bytes it was read from. Copies share them.
///
/// It stands where `SecCertificate` stands on other systems.
public struct TrustCertificate: Sendable {
    private let content: Content

    /// Reads one certificate in DER.
    ///
    /// One whose RSA algorithms lack the NULL that belongs there is read too, for its names, its key and pins; no chain with it is
    /// valid (``TrustFailure/nonconformingEncoding(subject:detail:)``).
    ///
    /// - Throws: ``TrustCertificateError`` when it is none, or uses algorithms that cannot be checked here: RSASSA-PSS, DSA, Ed448,
    ///   other curves than P-256, P-384, P-521 and Ed25519.
    public init(derEncoded der: [UInt8]) throws(TrustCertificateError) {
        do {
            content = try Content(der: der)
        } catch let error as TrustCertificateError {
            throw error
        } catch {
            throw .unreadable(error.plainText)
        }
    }

    /// The certificate as it was made, for what X509 already has in hand.
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

    /// The bytes it was read from.
    public var derRepresentation: [UInt8] { content.der }

    /// What it says, by the library that reads it. Of a certificate whose RSA key lacks the NULL of its algorithm, which that library
    /// does not read, a copy with it: ``derRepresentation`` and ``publicKey`` are always as they were read.
    public var x509: Certificate { content.x509 }

    /// Its public key.
    public var publicKey: ServerPublicKey { content.publicKey }

    /// The first second in which it is valid.
    public var notBefore: TrustTime { content.fields.notBefore }

    /// The last second in which it is valid.
    public var notAfter: TrustTime { content.fields.notAfter }

    /// SHA-256 of its DER, what is usually called its fingerprint.
    public var fingerprint: [UInt8] { content.fingerprint }

    /// What was read from its bytes.
    var fields: CertificateFields { content.fields }

    /// Its subjectAltName; empty if it has none, nil if it cannot be read.
    var alternativeNames: [GeneralName]? { content.alternativeNames }

    /// Its nameConstraints; nil if it has none.
    func nameConstraints() throws(TrustFailure) -> NameConstraints? {
        do {
            return try content.nameConstraints.get()
        } catch {
            throw .unreadableExtension(subject: description, name: "nameConstraints")
        }
    }

    /// Whether the issuer's key has made its signature.
    func isSigned(by issuer: TrustCertificate) -> Bool {
        issuer.x509.publicKey.isValidSignature(
            fields.signature,
            for: fields.body,
            signatureAlgorithm: x509.signatureAlgorithm
        )
    }

    /// Who says to have issued it: `CN=Root,O=Forge`.
    package var issuerName: String { x509.issuer.readable }

    /// Whether issuer and subject are the same name. Whether it has signed itself is another question.
    public var isSelfIssued: Bool { x509.issuer == x509.subject }

    private final class Content: Sendable {
        let der: [UInt8]
        let fields: CertificateFields
        let x509: Certificate
        let publicKey: ServerPublicKey
        let fingerprint: [UInt8]
        /// Read once, for each handshake looks at them; nil if they cannot be read.
        let alternativeNames: [GeneralName]?
        /// Read once, for it may be long.
        let nameConstraints: Result<NameConstraints?, any Error>

        init(der: [UInt8]) throws {
            let fields = try CertificateFields(der: der)
            if let algorithm = fields.signatureAlgorithm, let name = TrustCertificateError.brokenAlgorithms[algorithm] {
                throw TrustCertificateError.brokenSignatureAlgorithm(name)
            }
            if let bits = fields.rsaBits, bits < 2048 { throw TrustCertificateError.weakKey(bits: bits) }
            x509 = try Certificate(
                derEncoded: fields.keyLacksParameters ? try CertificateFields.withKeyParameters(der) : der
            )
            // The encoding of r and s outside DER would change bytes without changing the signature.
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

        /// What an extension with names says.
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
    /// Whether the bytes are the same.
    public static func == (one: TrustCertificate, other: TrustCertificate) -> Bool {
        one.content === other.content || one.content.der == other.content.der
    }

    /// The fingerprint.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(content.fingerprint)
    }
}

extension TrustCertificate: CustomStringConvertible {
    /// The common name of its subject; where it has none, the whole subject, or a name the certificate is for. Characters that
    /// nobody sees are escaped.
    public var description: String {
        // The last is the most specific.
        let attributes = x509.subject.flatMap { Array($0) }
        let common = attributes.last { $0.type == .NameAttributes.commonName }
        if let common { return AttributeText(common.value).readable.visible }
        if !x509.subject.isEmpty { return x509.subject.readable }
        return subjectAlternativeNames.first?.visible ?? "without a name"
    }
}

extension TrustCertificate {
    /// The host names and IP addresses it is for (subjectAltName, RFC 5280, 4.2.1.6), as texts; empty where there are none or
    /// they cannot be read.
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

/// The public key of a certificate, as it is encoded there (SubjectPublicKeyInfo, RFC 5280, 4.1).
///
/// It stands where `SecKey` stands on other systems. Two certificates with the same key, a renewed one for example, have equal
/// keys.
public struct ServerPublicKey: Hashable, Sendable {
    /// Algorithm and key in DER.
    public let subjectPublicKeyInfo: [UInt8]

    /// A key in DER, for example what `openssl pkey -pubout -outform DER` prints. Nothing is checked: bytes that are no key
    /// equal no key.
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

    /// Whether it may sign other certificates, as far as basicConstraints says.
    var isAuthority: Bool {
        guard case .isCertificateAuthority = try? basicConstraints() else { return false }
        return true
    }

    /// Whether it promises that its server sends a stapled response (status_request in the TLS feature extension, RFC 7633). One that
    /// cannot be read promises it, in doubt.
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
