import SwiftASN1
import X509

/// The fields of a certificate that are parsed from its own bytes (RFC 5280, 4.1): the encoded key, which pins are made
/// of, and the times without conversion to dates. The parser is stricter than X509 where bytes outside the signature
/// could be changed without detection.
struct CertificateFields {
    private(set) var subjectPublicKeyInfo: [UInt8] = []
    /// The contents of the INTEGER.
    private(set) var serialNumber: ArraySlice<UInt8> = []
    /// The issuer's name in DER.
    private(set) var issuer: ArraySlice<UInt8> = []
    private(set) var notBefore = TrustTime(secondsSinceEpoch: 0)
    private(set) var notAfter = TrustTime(secondsSinceEpoch: 0)
    private(set) var signatureAlgorithm: ASN1ObjectIdentifier?
    /// The signed data (TBSCertificate).
    private(set) var body: ArraySlice<UInt8> = []
    /// The bytes of the signature.
    private(set) var signature: ArraySlice<UInt8> = []
    /// The violation of the standard in an encoding that is accepted; nil if the encoding conforms.
    private(set) var encodingFault: String?

    init(der: [UInt8]) throws {
        self = try DER.sequence(try DER.parse(der), identifier: .sequence) { nodes in
            var fields = CertificateFields()
            guard let body = nodes.next(), let algorithm = nodes.next(), let signature = nodes.next() else {
                throw ASN1Error.invalidASN1Object(reason: "the certificate does not have three parts")
            }
            try body.requireSmallSets()
            fields.body = body.encodedBytes
            try fields.readBody(body, outerAlgorithm: algorithm)
            let bits = try ASN1BitString(derEncoded: signature)
            guard bits.paddingBits == 0 else {
                throw ASN1Error.invalidASN1Object(reason: "the signature is not a whole number of bytes")
            }
            fields.signature = bits.bytes
            return fields
        }
    }

    private init() {}

    private mutating func readBody(_ body: ASN1Node, outerAlgorithm: ASN1Node) throws {
        self = try DER.sequence(body, identifier: .sequence) { [self] nodes in
            var fields = self
            _ = try DER.optionalExplicitlyTagged(&nodes, tagNumber: 0, tagClass: .contextSpecific) { $0 }
            fields.serialNumber = try Self.serialNumber(nodes.next())
            guard let algorithm = nodes.next() else {
                throw ASN1Error.invalidASN1Object(reason: "there is no signature algorithm")
            }
            fields.encodingFault = try Self.difference(of: algorithm, and: outerAlgorithm)
            fields.signatureAlgorithm = try Self.identifier(of: algorithm)
            fields.issuer = nodes.next()?.encodedBytes ?? []
            guard let validity = nodes.next() else {
                throw ASN1Error.invalidASN1Object(reason: "there is no validity")
            }
            (fields.notBefore, fields.notAfter) = try Self.times(validity)
            _ = nodes.next()  // subject
            guard let key = nodes.next() else { throw ASN1Error.invalidASN1Object(reason: "there is no public key") }
            fields.subjectPublicKeyInfo = Array(key.encodedBytes)
            if fields.keyLacksParameters {
                fields.encodingFault = "its RSA key has no parameters, but NULL is required (RFC 3279, 2.3.1)"
            }
            while nodes.next() != nil {}
            return fields
        }
    }

    static func identifier(of algorithm: ASN1Node) throws -> ASN1ObjectIdentifier {
        try DER.sequence(algorithm, identifier: .sequence) { nodes in
            let identifier = try ASN1ObjectIdentifier(derEncoded: &nodes)
            while nodes.next() != nil {}
            return identifier
        }
    }

    static func serialNumber(_ node: ASN1Node?) throws -> ArraySlice<UInt8> {
        guard let node, node.identifier == .integer, case .primitive(let bytes) = node.content else {
            throw ASN1Error.invalidASN1Object(reason: "there is no serial number")
        }
        return bytes
    }

    private static func times(_ validity: ASN1Node) throws -> (TrustTime, TrustTime) {
        try DER.sequence(validity, identifier: .sequence) { nodes in
            guard let first = nodes.next(), let second = nodes.next() else {
                throw ASN1Error.invalidASN1Object(reason: "the validity does not have two times")
            }
            return (try TrustTime(first), try TrustTime(second))
        }
    }
}

extension ASN1Node {
    /// The maximum number of elements of a set in a name. Three is the most in practice.
    private static let maximumSetSize = 32

    /// Throws if the node is, or contains, a set with too many elements. Sets are sorted when they are parsed, which
    /// takes long for many elements.
    func requireSmallSets() throws {
        guard case .constructed(let children) = content else { return }
        var count = 0
        for child in children {
            count += 1
            guard identifier != .set || count <= Self.maximumSetSize else {
                throw ASN1Error.invalidASN1Object(
                    reason: "a set of a name has more than \(Self.maximumSetSize) elements"
                )
            }
            try child.requireSmallSets()
        }
    }
}

extension CertificateFields {
    /// The length of an RSA key's modulus in bits (RFC 8017, A.1.1); nil for other keys. X509 does not parse short
    /// keys, so the length is needed for the error.
    var rsaBits: Int? {
        let modulus = try? DER.sequence(try DER.parse(subjectPublicKeyInfo), identifier: .sequence) { nodes in
            guard let algorithm = nodes.next() else { return nil as ArraySlice<UInt8>? }
            let isRSA = try Self.identifier(of: algorithm) == [1, 2, 840, 113_549, 1, 1, 1]
            let key = try ASN1BitString(derEncoded: &nodes)
            return isRSA ? try Self.modulus(of: Array(key.bytes)) : nil
        }
        guard let modulus = modulus ?? nil, let first = modulus.first(where: { $0 != 0 }) else { return nil }
        return modulus.drop { $0 == 0 }.count * 8 - first.leadingZeroBitCount
    }

    /// The key without its algorithm: the contents of subjectPublicKey (RFC 5280, 4.1), which OCSP hashes.
    var publicKeyBits: ArraySlice<UInt8> {
        let bits = try? DER.sequence(try DER.parse(subjectPublicKeyInfo), identifier: .sequence) { nodes in
            _ = nodes.next()  // algorithm
            return try ASN1BitString(derEncoded: &nodes).bytes
        }
        return bits ?? []
    }

    private static func modulus(of key: [UInt8]) throws -> ArraySlice<UInt8> {
        try DER.sequence(try DER.parse(key), identifier: .sequence) { nodes in
            let modulus = try ArraySlice<UInt8>(derEncoded: &nodes)
            while nodes.next() != nil {}
            return modulus
        }
    }
}

/// The parameters of RSA algorithms. The standards require NULL, but some tools omit it, for example in the test
/// certificates of Alamofire. The meaning is the same, so such certificates are parsed. No chain with one is valid
/// (``EncodingPolicy``).
extension CertificateFields {
    /// The DER encoding of NULL.
    private static let null: ArraySlice<UInt8> = [0x05, 0x00]
    private static let rsaEncryption: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 1, 1]
    /// The encoding of the identifiers of PKCS #1 (RFC 8017, C) without the last component.
    private static let pkcs1: [UInt8] = [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01]

    /// A Boolean value that indicates whether the key is an RSA key whose algorithm has no parameters.
    var keyLacksParameters: Bool {
        let isLacking = try? DER.sequence(try DER.parse(subjectPublicKeyInfo), identifier: .sequence) { nodes in
            defer { while nodes.next() != nil {} }
            guard let algorithm = nodes.next() else { return false }
            return try Self.identifier(of: algorithm) == Self.rsaEncryption
                && Self.parts(of: algorithm).count == 1
        }
        return isLacking ?? false
    }

    /// Compares the signature algorithms inside and outside of the signed data. Returns nil if they are equal, and the
    /// violation if only one of them lacks the NULL of an RSA algorithm.
    ///
    /// - Throws: `ASN1Error` for any other difference.
    static func difference(of inner: ASN1Node, and outer: ASN1Node) throws -> String? {
        guard inner.encodedBytes != outer.encodedBytes else { return nil }
        let (one, other) = (parts(of: inner), parts(of: outer))
        let hasNull = [one, other].filter { $0.dropFirst() == [null] }.count == 1
        let hasNothing = [one, other].filter { $0.count == 1 }.count == 1
        guard hasNull, hasNothing, let identifier = one.first, identifier == other.first, identifier.starts(with: pkcs1)
        else {
            throw ASN1Error.invalidASN1Object(reason: "the two signature algorithms differ (RFC 5280, 4.1.1.2)")
        }
        return "one of its two signature algorithms has no parameters, the other has NULL (RFC 5280, 4.1.1.2)"
    }

    /// Returns the certificate with NULL added to the algorithm of its key. The signature does not cover the returned
    /// bytes.
    static func withKeyParameters(_ der: [UInt8]) throws -> [UInt8] {
        guard case .constructed(let parts) = try DER.parse(der).content, let body = parts.first(where: { _ in true }),
            case .constructed(let fields) = body.content
        else { throw ASN1Error.invalidASN1Object(reason: "the certificate does not have three parts") }
        // Five fields precede the key: serial number, signature, issuer, validity and subject. An optional version is
        // the only tagged field.
        let hasVersion = fields.first { _ in true }?.identifier.tagClass == .contextSpecific
        let place = hasVersion ? 6 : 5
        var serializer = DER.Serializer()
        serializer.appendConstructedNode(identifier: .sequence) { whole in
            whole.appendConstructedNode(identifier: .sequence) { body in
                for (index, field) in fields.enumerated() {
                    guard index == place else { body.serializeRawBytes(field.encodedBytes); continue }
                    Self.appendKey(field, to: &body)
                }
            }
            for part in parts.dropFirst() { whole.serializeRawBytes(part.encodedBytes) }
        }
        return serializer.serializedBytes
    }

    private static func appendKey(_ key: ASN1Node, to serializer: inout DER.Serializer) {
        guard case .constructed(let parts) = key.content else { return }
        serializer.appendConstructedNode(identifier: .sequence) { info in
            for (index, part) in parts.enumerated() {
                guard index == 0 else { info.serializeRawBytes(part.encodedBytes); continue }
                info.appendConstructedNode(identifier: .sequence) { algorithm in
                    for part in Self.parts(of: part) { algorithm.serializeRawBytes(part) }
                    algorithm.serializeRawBytes(null)
                }
            }
        }
    }

    /// Returns the encoded elements of a sequence.
    private static func parts(of node: ASN1Node) -> [ArraySlice<UInt8>] {
        guard node.identifier == .sequence, case .constructed(let parts) = node.content else { return [] }
        return parts.map(\.encodedBytes)
    }
}

/// The signed data of an OCSP response or a revocation list, with its signature.
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
        guard bits.paddingBits == 0 else {
            throw ASN1Error.invalidASN1Object(reason: "the signature is not a whole number of bytes")
        }
        self.signature = bits.bytes
    }

    /// Verifies that the key of a certificate made the signature, with a secure algorithm.
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
    /// Parses a sequence of extensions, in which each extension occurs once (Extensions, RFC 5280, 4.2).
    init(encoded node: ASN1Node) throws {
        try self.init(try DER.sequence(of: Certificate.Extension.self, identifier: .sequence, rootNode: node))
    }

    /// Throws if there is a critical extension other than the supported ones.
    func requireNoCritical(but heeded: Set<ASN1ObjectIdentifier> = []) throws(RevocationProblem) {
        for entry in self where entry.critical && !heeded.contains(entry.oid) {
            throw .criticalExtension(identifier: entry.oid.description)
        }
    }
}
