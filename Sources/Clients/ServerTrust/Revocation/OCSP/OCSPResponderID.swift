import SwiftASN1
import X509

/// Who says to have made a response (ResponderID, RFC 6960, 4.2.1).
enum OCSPResponderID: Hashable {
    case name(DistinguishedName)
    /// The SHA-1 of the key.
    case key(ArraySlice<UInt8>)

    init(_ node: ASN1Node?) throws {
        switch node?.identifier {
        case ASN1Identifier(tagWithNumber: 1, tagClass: .contextSpecific):
            self = .name(
                try Self.only(node) { node in
                    try node.requireSmallSets()
                    return try DistinguishedName(derEncoded: node)
                }
            )
        case ASN1Identifier(tagWithNumber: 2, tagClass: .contextSpecific):
            self = .key(try Self.only(node) { try ASN1OctetString(derEncoded: $0).bytes })
        default:
            throw ASN1Error.invalidASN1Object(reason: "a responder is named by name or key")
        }
    }

    /// Whether a certificate is of the one that is named.
    func names(_ certificate: TrustCertificate) -> Bool {
        switch self {
        case .name(let name): certificate.x509.subject == name
        case .key(let hash): OCSPDigest.sha1.hash(certificate.fields.publicKeyBits) == hash
        }
    }

    private static func only<Value>(_ node: ASN1Node?, _ read: (ASN1Node) throws -> Value) throws -> Value {
        guard case .constructed(let nodes) = node?.content else {
            throw ASN1Error.invalidASN1Object(reason: "a responder's tag is explicit")
        }
        var iterator = nodes.makeIterator()
        guard let child = iterator.next(), iterator.next() == nil else {
            throw ASN1Error.invalidASN1Object(reason: "a responder has one name")
        }
        return try read(child)
    }
}
