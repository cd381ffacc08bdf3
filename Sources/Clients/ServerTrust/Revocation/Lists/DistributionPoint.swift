import SwiftASN1
import X509

/// Where a certificate says that lists are (cRLDistributionPoints, RFC 5280, 4.2.1.13).
struct DistributionPoint: Sendable {
    private static let identifier: ASN1ObjectIdentifier = [2, 5, 29, 31]

    let name: DistributionPointName?
    /// Whether the list there is about all reasons, and the issuer's own.
    private let isComplete: Bool

    /// None if the extension is not there or cannot be read.
    static func all(of certificate: TrustCertificate) -> [DistributionPoint] {
        guard let entry = certificate.x509.extensions[oid: identifier], let node = try? DER.parse(entry.value),
            node.identifier == .sequence, case .constructed(let nodes) = node.content
        else { return [] }
        return (try? nodes.map { try DistributionPoint($0) }) ?? []
    }

    /// The URLs of those lists that can be used here.
    static func locations(in certificate: TrustCertificate) -> [String] {
        all(of: certificate).filter(\.isComplete).flatMap { RevocationURL.all(in: $0.name?.names ?? []).prefix(1) }
    }

    private init(_ node: ASN1Node) throws {
        self = try DER.sequence(node, identifier: .sequence) { nodes in
            let name = try DER.optionalExplicitlyTagged(&nodes, tagNumber: 0, tagClass: .contextSpecific) {
                try DistributionPointName($0)
            }
            // What is left are some reasons, or another issuer.
            let isComplete = nodes.next() == nil
            while nodes.next() != nil {}
            return DistributionPoint(name: name, isComplete: isComplete)
        }
    }

    private init(name: DistributionPointName?, isComplete: Bool) {
        self.name = name
        self.isComplete = isComplete
    }
}
