import SwiftASN1
import X509

/// The question after one certificate, not signed (OCSPRequest, RFC 6960, 4.1.1).
struct OCSPRequest {
    static let nonceIdentifier: ASN1ObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 48, 1, 2]
    /// What RFC 9654, 2.1 tells clients to send; RFC 8954 allows up to that.
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
