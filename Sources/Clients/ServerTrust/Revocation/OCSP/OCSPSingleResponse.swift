import SwiftASN1
import X509

/// The part of a response about one certificate (SingleResponse, RFC 6960, 4.2.1).
struct OCSPSingleResponse {
    let id: OCSPCertificateID
    let status: OCSPCertificateStatus
    let thisUpdate: TrustTime
    let nextUpdate: TrustTime?
    let extensions: Certificate.Extensions

    init(_ node: ASN1Node) throws {
        self = try DER.sequence(node, identifier: .sequence) { nodes in
            guard let id = nodes.next() else { throw ASN1Error.invalidASN1Object(reason: "there is no CertID") }
            return try OCSPSingleResponse(
                id: try OCSPCertificateID(id),
                status: try OCSPCertificateStatus(nodes.next()),
                thisUpdate: TrustTime(try GeneralizedTime(derEncoded: &nodes)),
                nextUpdate: try DER.optionalExplicitlyTagged(&nodes, tagNumber: 0, tagClass: .contextSpecific) {
                    TrustTime(try GeneralizedTime(derEncoded: $0))
                },
                extensions: try DER.optionalExplicitlyTagged(&nodes, tagNumber: 1, tagClass: .contextSpecific) {
                    try Certificate.Extensions(encoded: $0)
                } ?? Certificate.Extensions()
            )
        }
    }

    private init(
        id: OCSPCertificateID,
        status: OCSPCertificateStatus,
        thisUpdate: TrustTime,
        nextUpdate: TrustTime?,
        extensions: Certificate.Extensions
    ) throws {
        self.id = id
        self.status = status
        self.thisUpdate = thisUpdate
        self.nextUpdate = nextUpdate
        self.extensions = extensions
        if let nextUpdate, nextUpdate < thisUpdate {
            throw ASN1Error.invalidASN1Object(reason: "nextUpdate is before thisUpdate")
        }
    }
}
