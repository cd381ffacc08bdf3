import SwiftASN1
import X509

/// Which certificates a list is about (RFC 5280, 5.2.5). Without the extension, all of its issuer.
struct IssuingDistributionPoint: Sendable {
    static let identifier: ASN1ObjectIdentifier = [2, 5, 29, 28]

    /// Nil if it is not limited to those that name such a point.
    private let point: DistributionPointName?
    private let isOnlyServers: Bool
    private let isOnlyAuthorities: Bool
    private let isOnlyAttributes: Bool
    /// Whether a certificate that is not on it may be revoked for other reasons.
    let hasOnlySomeReasons: Bool

    init(of extensions: Certificate.Extensions) throws {
        guard let entry = extensions[oid: Self.identifier] else {
            self.init(
                point: nil,
                isOnlyServers: false,
                isOnlyAuthorities: false,
                isOnlyAttributes: false,
                hasOnlySomeReasons: false
            )
            return
        }
        self = try DER.sequence(try DER.parse(entry.value), identifier: .sequence) { nodes in
            let point = try DER.optionalExplicitlyTagged(&nodes, tagNumber: 0, tagClass: .contextSpecific) {
                try DistributionPointName($0)
            }
            let isOnlyServers = try Self.flag(&nodes, 1)
            let isOnlyAuthorities = try Self.flag(&nodes, 2)
            let reasons = DER.optionalImplicitlyTagged(&nodes, tagNumber: 3, tagClass: .contextSpecific) { _ in true }
            guard try !Self.flag(&nodes, 4) else { throw RevocationProblem.indirectList }
            return IssuingDistributionPoint(
                point: point,
                isOnlyServers: isOnlyServers,
                isOnlyAuthorities: isOnlyAuthorities,
                isOnlyAttributes: try Self.flag(&nodes, 5),
                hasOnlySomeReasons: reasons ?? false
            )
        }
    }

    private init(
        point: DistributionPointName?,
        isOnlyServers: Bool,
        isOnlyAuthorities: Bool,
        isOnlyAttributes: Bool,
        hasOnlySomeReasons: Bool
    ) {
        self.point = point
        self.isOnlyServers = isOnlyServers
        self.isOnlyAuthorities = isOnlyAuthorities
        self.isOnlyAttributes = isOnlyAttributes
        self.hasOnlySomeReasons = hasOnlySomeReasons
    }

    /// Whether the list is about a certificate (RFC 5280, 6.3.3 (b) (2)).
    func includes(_ certificate: TrustCertificate) -> Bool {
        guard !isOnlyAttributes, certificate.isAuthority ? !isOnlyServers : !isOnlyAuthorities else { return false }
        guard let point else { return true }
        return DistributionPoint.all(of: certificate).contains { $0.name?.shares(point) ?? false }
    }

    private static func flag(_ nodes: inout ASN1NodeCollection.Iterator, _ number: UInt) throws -> Bool {
        try DER.optionalImplicitlyTagged(&nodes, tagNumber: number, tagClass: .contextSpecific) { node in
            try Bool(derEncoded: node, withIdentifier: node.identifier)
        } ?? false
    }
}
