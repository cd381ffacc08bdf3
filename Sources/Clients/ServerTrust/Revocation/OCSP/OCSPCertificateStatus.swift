import SwiftASN1

/// What a response says of one certificate (CertStatus, RFC 6960, 4.2.1).
enum OCSPCertificateStatus: Hashable {
    case good
    case revoked(TrustTime, RevocationReason?)
    case unknown

    init(_ node: ASN1Node?) throws {
        guard let node else { throw ASN1Error.invalidASN1Object(reason: "there is no status") }
        switch node.identifier {
        case Self.tag(0):
            _ = try ASN1Null(derEncoded: node, withIdentifier: node.identifier)
            self = .good
        case Self.tag(1):
            self = try DER.sequence(node, identifier: node.identifier) { nodes in
                let time = TrustTime(try GeneralizedTime(derEncoded: &nodes))
                let reason = try DER.optionalExplicitlyTagged(&nodes, tagNumber: 0, tagClass: .contextSpecific) {
                    RevocationReason(rawValue: try Int(derEncoded: $0, withIdentifier: .enumerated))
                }
                return .revoked(time, reason)
            }
        case Self.tag(2):
            _ = try ASN1Null(derEncoded: node, withIdentifier: node.identifier)
            self = .unknown
        default:
            throw ASN1Error.unexpectedFieldType(node.identifier)
        }
    }

    private static func tag(_ number: UInt) -> ASN1Identifier {
        ASN1Identifier(tagWithNumber: number, tagClass: .contextSpecific)
    }
}
