import SwiftASN1
import X509

/// What a responder has signed (ResponseData, RFC 6960, 4.2.1).
struct OCSPResponseData {
    let responder: OCSPResponderID
    let producedAt: TrustTime
    let responses: [OCSPSingleResponse]
    let extensions: Certificate.Extensions

    init(_ node: ASN1Node) throws {
        self = try DER.sequence(node, identifier: .sequence) { nodes in
            let version = try DER.optionalExplicitlyTagged(&nodes, tagNumber: 0, tagClass: .contextSpecific) {
                try Int(derEncoded: $0)
            }
            guard version ?? 0 == 0 else { throw ASN1Error.invalidASN1Object(reason: "the version is not 1") }
            return OCSPResponseData(
                responder: try OCSPResponderID(nodes.next()),
                producedAt: TrustTime(try GeneralizedTime(derEncoded: &nodes)),
                responses: try Self.responses(nodes.next()),
                extensions: try DER.optionalExplicitlyTagged(&nodes, tagNumber: 1, tagClass: .contextSpecific) {
                    try Certificate.Extensions(encoded: $0)
                } ?? Certificate.Extensions()
            )
        }
    }

    private init(
        responder: OCSPResponderID,
        producedAt: TrustTime,
        responses: [OCSPSingleResponse],
        extensions: Certificate.Extensions
    ) {
        self.responder = responder
        self.producedAt = producedAt
        self.responses = responses
        self.extensions = extensions
    }

    /// The nonce; nil if there is none.
    func nonce() throws -> [UInt8]? {
        guard let entry = extensions[oid: OCSPRequest.nonceIdentifier] else { return nil }
        return Array(try ASN1OctetString(derEncoded: entry.value).bytes)
    }

    private static func responses(_ node: ASN1Node?) throws -> [OCSPSingleResponse] {
        guard let node, node.identifier == .sequence, case .constructed(let nodes) = node.content else {
            throw ASN1Error.invalidASN1Object(reason: "there are no responses")
        }
        return try nodes.map { try OCSPSingleResponse($0) }
    }
}
