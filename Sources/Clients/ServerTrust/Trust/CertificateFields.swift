import SwiftASN1

/// What is read from a certificate's own bytes (RFC 5280, 4.1): the key as it is encoded, for pins are made of that, and the
/// times without a detour through dates. Stricter than X509 where bytes outside the signature could be changed unseen.
struct CertificateFields {
    private(set) var subjectPublicKeyInfo: [UInt8] = []
    /// The contents of the INTEGER.
    private(set) var serialNumber: ArraySlice<UInt8> = []
    /// The issuer's name in DER.
    private(set) var issuer: ArraySlice<UInt8> = []
    private(set) var notBefore = TrustTime(secondsSinceEpoch: 0)
    private(set) var notAfter = TrustTime(secondsSinceEpoch: 0)
    private(set) var signatureAlgorithm: ASN1ObjectIdentifier?
    /// What is signed.
    private(set) var body: ArraySlice<UInt8> = []
    /// The signature's bytes.
    private(set) var signature: ArraySlice<UInt8> = []
    /// What of its encoding the standard forbids and is read all the same; nil if nothing is.
    private(set) var encodingFault: String?

    init(der: [UInt8]) throws {
        self = try DER.sequence(try DER.parse(der), identifier: .sequence) { nodes in
            var fields = CertificateFields()
            guard let body = nodes.next(), let algorithm = nodes.next(), let signature = nodes.next() else {
                throw ASN1Error.invalidASN1Object(reason: "a certificate has three parts")
            }
            try body.requireSmallSets()
            fields.body = body.encodedBytes
            try fields.readBody(body, outerAlgorithm: algorithm)
            let bits = try ASN1BitString(derEncoded: signature)
            guard bits.paddingBits == 0 else {
                throw ASN1Error.invalidASN1Object(reason: "a signature is whole bytes")
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
                fields.encodingFault = "its RSA key has no parameters where NULL belongs (RFC 3279, 2.3.1)"
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
                throw ASN1Error.invalidASN1Object(reason: "a validity has two times")
            }
            return (try TrustTime(first), try TrustTime(second))
        }
    }
}

extension ASN1Node {
    /// The most elements of a set that anybody has seen in a name is three.
    private static let maximumSetSize = 32

    /// Throws if it is, or has somewhere in it, a set of very many elements: they are sorted when they are read, which takes long.
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
