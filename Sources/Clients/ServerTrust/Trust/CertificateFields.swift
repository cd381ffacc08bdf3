import SwiftASN1
import X509

/// The fields of a certificate that are parsed from its own bytes (RFC 5280, 4.1): the encoded key, which pins are made
/// of, and the times without conversion to dates. The parser is stricter than X509 where bytes outside the signature
/// could be changed without detection.
struct CertificateFields {
    let subjectPublicKeyInfo: [UInt8]
    /// The contents of the INTEGER.
    let serialNumber: ArraySlice<UInt8>
    /// The issuer's name in DER.
    let issuer: ArraySlice<UInt8>
    let notBefore: TrustTime
    let notAfter: TrustTime
    let signatureAlgorithm: ASN1ObjectIdentifier
    /// The signed data (TBSCertificate).
    let body: ArraySlice<UInt8>
    /// The bytes of the signature.
    let signature: ArraySlice<UInt8>
    /// The violation of the standard in an encoding that is accepted; nil if the encoding conforms.
    private(set) var encodingFault: String?

    init(der: [UInt8]) throws {
        let parts = try Self.parts(of: der)
        try parts[0].requireSmallSets()
        body = parts[0].encodedBytes
        var fields = try parts[0].elements().makeIterator()
        _ = try DER.optionalExplicitlyTagged(&fields, tagNumber: 0, tagClass: .contextSpecific) { $0 }  // version
        serialNumber = try Self.serialNumber(fields.next())
        let algorithm = try fields.next("signature algorithm")
        encodingFault = try Self.difference(of: algorithm, and: parts[1])
        signatureAlgorithm = try Self.identifier(of: algorithm)
        issuer = try fields.next("issuer").encodedBytes
        let times = try fields.next("validity").elements().map { try TrustTime($0) }
        guard times.count == 2 else {
            throw ASN1Error.invalidASN1Object(reason: "the validity does not have two times")
        }
        (notBefore, notAfter) = (times[0], times[1])
        _ = fields.next()  // subject
        subjectPublicKeyInfo = Array(try fields.next("public key").encodedBytes)
        signature = try Self.signature(parts[2])
        if keyLacksParameters {
            encodingFault = "its RSA key has no parameters, but NULL is required (RFC 3279, 2.3.1)"
        }
    }

    /// Returns the three parts of a certificate: the signed data, the algorithm and the signature.
    private static func parts(of der: [UInt8]) throws -> [ASN1Node] {
        let parts = Array(try DER.parse(der).elements())
        guard parts.count == 3 else {
            throw ASN1Error.invalidASN1Object(reason: "the certificate does not have three parts")
        }
        return parts
    }

    static func identifier(of algorithm: ASN1Node) throws -> ASN1ObjectIdentifier {
        var elements = try algorithm.elements().makeIterator()
        return try ASN1ObjectIdentifier(derEncoded: &elements)
    }

    static func serialNumber(_ node: ASN1Node?) throws -> ArraySlice<UInt8> {
        guard let node, node.identifier == .integer, case .primitive(let bytes) = node.content else {
            throw ASN1Error.invalidASN1Object(reason: "there is no serial number")
        }
        return bytes
    }

    /// Returns the bytes of a signature.
    static func signature(_ node: ASN1Node) throws -> ArraySlice<UInt8> {
        let bits = try ASN1BitString(derEncoded: node)
        guard bits.paddingBits == 0 else {
            throw ASN1Error.invalidASN1Object(reason: "the signature is not a whole number of bytes")
        }
        return bits.bytes
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

    /// Returns the elements of a sequence.
    func elements() throws -> ASN1NodeCollection {
        guard identifier == .sequence, case .constructed(let nodes) = content else {
            throw ASN1Error.unexpectedFieldType(identifier)
        }
        return nodes
    }
}

extension ASN1NodeCollection.Iterator {
    /// Returns the next element, which is required.
    mutating func next(_ name: String) throws -> ASN1Node {
        guard let node = next() else { throw ASN1Error.invalidASN1Object(reason: "there is no \(name)") }
        return node
    }
}

extension CertificateFields {
    /// The algorithm of the key, and the contents of subjectPublicKey; nil if the key cannot be parsed.
    private var key: (algorithm: ASN1Node, bits: ArraySlice<UInt8>)? {
        guard var elements = try? DER.parse(subjectPublicKeyInfo).elements().makeIterator(),
            let algorithm = elements.next(), let bits = try? ASN1BitString(derEncoded: &elements)
        else { return nil }
        return (algorithm, bits.bytes)
    }

    /// The length of an RSA key's modulus in bits (RFC 8017, A.1.1); nil for other keys. X509 does not parse short
    /// keys, so the length is needed for the error.
    var rsaBits: Int? {
        guard let key, (try? Self.identifier(of: key.algorithm)) == Self.rsaEncryption,
            var numbers = try? DER.parse(key.bits).elements().makeIterator(),
            let modulus = try? ArraySlice<UInt8>(derEncoded: &numbers), let first = modulus.first(where: { $0 != 0 })
        else { return nil }
        return modulus.drop { $0 == 0 }.count * 8 - first.leadingZeroBitCount
    }

    /// The key without its algorithm: the contents of subjectPublicKey (RFC 5280, 4.1), which OCSP hashes.
    var publicKeyBits: ArraySlice<UInt8> { key?.bits ?? [] }
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
        guard let algorithm = key?.algorithm, (try? Self.identifier(of: algorithm)) == Self.rsaEncryption else {
            return false
        }
        return Self.encodedElements(of: algorithm).count == 1
    }

    /// Compares the signature algorithms inside and outside of the signed data. Returns nil if they are equal, and the
    /// violation if only one of them lacks the NULL of an RSA algorithm.
    ///
    /// - Throws: `ASN1Error` for any other difference.
    private static func difference(of inner: ASN1Node, and outer: ASN1Node) throws -> String? {
        guard inner.encodedBytes != outer.encodedBytes else { return nil }
        let (one, other) = (encodedElements(of: inner), encodedElements(of: outer))
        let hasNull = [one, other].filter { $0.dropFirst() == [null] }.count == 1
        let hasNothing = [one, other].filter { $0.count == 1 }.count == 1
        guard hasNull, hasNothing, let identifier = one.first, identifier == other.first, identifier.starts(with: pkcs1)
        else {
            throw ASN1Error.invalidASN1Object(reason: "the two signature algorithms differ (RFC 5280, 4.1.1.2)")
        }
        return "one of its two signature algorithms has no parameters, the other has NULL (RFC 5280, 4.1.1.2)"
    }

    private static func encodedElements(of node: ASN1Node) -> [ArraySlice<UInt8>] {
        (try? node.elements().map(\.encodedBytes)) ?? []
    }

    /// Returns the certificate with NULL added to the algorithm of its key. The signature does not cover the returned
    /// bytes.
    func addingKeyParameters(to der: [UInt8]) throws -> [UInt8] {
        let parts = try Self.parts(of: der)
        let fields = try parts[0].elements()
        var serializer = DER.Serializer()
        try serializer.appendConstructedNode(identifier: .sequence) { whole in
            try whole.appendConstructedNode(identifier: .sequence) { body in
                for field in fields {
                    guard field.encodedBytes.elementsEqual(subjectPublicKeyInfo) else {
                        body.serializeRawBytes(field.encodedBytes)
                        continue
                    }
                    try body.appendConstructedNode(identifier: .sequence) { info in
                        try info.appendConstructedNode(identifier: .sequence) { algorithm in
                            try algorithm.serialize(Self.rsaEncryption)
                            try algorithm.serialize(ASN1Null())
                        }
                        try info.serialize(ASN1BitString(bytes: publicKeyBits))
                    }
                }
            }
            for part in parts.dropFirst() { whole.serializeRawBytes(part.encodedBytes) }
        }
        return serializer.serializedBytes
    }
}

/// The signed data of an OCSP response or a revocation list, with its signature.
struct SignedData: Sendable {
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
        self.signature = try CertificateFields.signature(signature)
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
