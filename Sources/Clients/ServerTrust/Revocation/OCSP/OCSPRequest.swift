import Crypto
import SwiftASN1
import X509

/// An unsigned OCSP request for one certificate (OCSPRequest, RFC 6960, 4.1.1).
struct OCSPRequest {
    static let nonceIdentifier: ASN1ObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 48, 1, 2]
    /// The length of the nonce in bytes: the value that RFC 9654, 2.1 requires of clients, and the maximum of RFC 8954.
    static let nonceLength = 32

    let id: OCSPCertificateID
    let nonce: [UInt8]?

    func encoded() throws -> [UInt8] {
        var coder = DER.Serializer()
        try coder.appendConstructedNode(identifier: .sequence) { coder in
            try coder.appendConstructedNode(identifier: .sequence) { coder in
                try coder.appendConstructedNode(identifier: .sequence) { coder in
                    try coder.appendConstructedNode(identifier: .sequence) { try id.serialize(into: &$0) }
                }
                guard let nonce else { return }
                try coder.serialize(explicitlyTaggedWithTagNumber: 2, tagClass: .contextSpecific) { coder in
                    try coder.serializeSequenceOf([try Self.nonceExtension(nonce)])
                }
            }
        }
        return coder.serializedBytes
    }

    private static func nonceExtension(_ nonce: [UInt8]) throws -> Certificate.Extension {
        var coder = DER.Serializer()
        try coder.serialize(ASN1OctetString(contentBytes: nonce[...]))
        return Certificate.Extension(oid: nonceIdentifier, critical: false, value: coder.serializedBytes[...])
    }
}

/// The identifier of a certificate (CertID, RFC 6960, 4.1.1).
struct OCSPCertificateID: Hashable {
    /// The hash algorithm; nil if it is not supported.
    let digest: OCSPDigest?
    let issuerNameHash: ArraySlice<UInt8>
    let issuerKeyHash: ArraySlice<UInt8>
    /// The contents of the INTEGER.
    let serialNumber: ArraySlice<UInt8>
}

extension OCSPCertificateID {
    init(of query: RevocationQuery, digest: OCSPDigest) {
        self.init(
            digest: digest,
            issuerNameHash: digest.hash(query.certificate.fields.issuer),
            issuerKeyHash: digest.hash(query.issuer.fields.publicKeyBits),
            serialNumber: query.certificate.fields.serialNumber
        )
    }

    init(_ node: ASN1Node) throws {
        self = try DER.sequence(node, identifier: .sequence) { nodes in
            let identifier = try CertificateFields.identifier(of: try nodes.next("algorithm"))
            let name = try ASN1OctetString(derEncoded: &nodes)
            let key = try ASN1OctetString(derEncoded: &nodes)
            return OCSPCertificateID(
                digest: OCSPDigest.allCases.first { $0.identifier == identifier },
                issuerNameHash: name.bytes,
                issuerKeyHash: key.bytes,
                serialNumber: try CertificateFields.serialNumber(nodes.next())
            )
        }
    }

    /// Returns whether this identifies the certificate of a query.
    func names(_ query: RevocationQuery) -> Bool {
        guard let digest else { return false }
        return self == OCSPCertificateID(of: query, digest: digest)
    }

    func serialize(into coder: inout DER.Serializer) throws {
        guard let digest else { return }
        try coder.appendConstructedNode(identifier: .sequence) { coder in
            try coder.appendConstructedNode(identifier: .sequence) { coder in
                try coder.serialize(digest.identifier)
                try coder.serialize(ASN1Null())
            }
            try coder.serialize(ASN1OctetString(contentBytes: issuerNameHash))
            try coder.serialize(ASN1OctetString(contentBytes: issuerKeyHash))
            coder.appendPrimitiveNode(identifier: .integer) { $0.append(contentsOf: serialNumber) }
        }
    }
}

/// The hash algorithms that identify certificates and responders. They need not resist collisions, because a response
/// also requires the issuer's signature. Requests use SHA-1, which every responder supports (RFC 5019, 2.1.1).
enum OCSPDigest: CaseIterable {
    case sha1, sha256

    var identifier: ASN1ObjectIdentifier {
        switch self {
        case .sha1: [1, 3, 14, 3, 2, 26]
        case .sha256: [2, 16, 840, 1, 101, 3, 4, 2, 1]
        }
    }

    func hash(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        switch self {
        case .sha1: Array(Insecure.SHA1.hash(data: bytes))[...]
        case .sha256: Array(SHA256.hash(data: bytes))[...]
        }
    }
}
