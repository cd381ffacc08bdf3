import SwiftASN1
import X509

/// Where a list is (DistributionPointName, RFC 5280, 4.2.1.13). Names relative to the issuer's have not been seen for decades: they
/// are read, and are no place.
struct DistributionPointName: Sendable {
    let names: [GeneralName]

    init(_ node: ASN1Node) throws {
        switch node.identifier {
        case ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific):
            guard case .constructed(let nodes) = node.content else {
                throw ASN1Error.invalidASN1Object(reason: "the names of a distribution point are a sequence")
            }
            names = try nodes.map { try GeneralName(derEncoded: $0) }
        case ASN1Identifier(tagWithNumber: 1, tagClass: .contextSpecific):
            names = []
        default:
            throw ASN1Error.unexpectedFieldType(node.identifier)
        }
    }

    /// Whether one of the names is the same.
    func shares(_ other: DistributionPointName) -> Bool {
        names.contains { other.names.contains($0) }
    }
}
