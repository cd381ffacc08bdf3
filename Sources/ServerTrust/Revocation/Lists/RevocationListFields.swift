import SwiftASN1
import X509

/// The fields of a list behind its algorithm.
struct RevocationListFields {
    private static let deltaIndicator: ASN1ObjectIdentifier = [2, 5, 29, 27]

    let issuer: DistinguishedName
    let thisUpdate: TrustTime
    let nextUpdate: TrustTime?
    let entries: [ArraySlice<UInt8>: RevocationListEntry]
    let extensions: Certificate.Extensions

    init(_ nodes: inout ASN1NodeCollection.Iterator, hasExtensions: Bool) throws {
        guard let name = nodes.next(), let first = nodes.next() else {
            throw ASN1Error.invalidASN1Object(reason: "there is no issuer or no thisUpdate")
        }
        try name.requireSmallSets()
        issuer = try DistinguishedName(derEncoded: name)
        thisUpdate = try TrustTime(first)
        nextUpdate = try Self.optionalTime(&nodes)
        entries = try Self.entries(&nodes, hasExtensions: hasExtensions)
        let extensions = try DER.optionalExplicitlyTagged(&nodes, tagNumber: 0, tagClass: .contextSpecific) {
            try Certificate.Extensions(encoded: $0)
        }
        guard hasExtensions || extensions == nil else {
            throw ASN1Error.invalidASN1Object(reason: "version 1 has no extensions (RFC 5280, 5.1.2.1)")
        }
        self.extensions = extensions ?? Certificate.Extensions()
        // Whether it is marked critical or not: what is missing on it is on another.
        guard self.extensions[oid: Self.deltaIndicator] == nil else { throw RevocationProblem.deltaList }
        try self.extensions.requireNoCritical(but: [IssuingDistributionPoint.identifier])
        if let nextUpdate, nextUpdate < thisUpdate {
            throw ASN1Error.invalidASN1Object(reason: "nextUpdate is before thisUpdate")
        }
    }

    private static func optionalTime(_ nodes: inout ASN1NodeCollection.Iterator) throws -> TrustTime? {
        var ahead = nodes
        guard let node = ahead.next(), node.identifier == .utcTime || node.identifier == .generalizedTime else {
            return nil
        }
        nodes = ahead
        return try TrustTime(node)
    }

    private static func entries(
        _ nodes: inout ASN1NodeCollection.Iterator,
        hasExtensions: Bool
    ) throws -> [ArraySlice<UInt8>: RevocationListEntry] {
        var ahead = nodes
        guard let node = ahead.next(), node.identifier == .sequence, case .constructed(let list) = node.content else {
            return [:]
        }
        nodes = ahead
        var entries: [ArraySlice<UInt8>: RevocationListEntry] = [:]
        for node in list {
            let (serialNumber, entry) = try RevocationListEntry.read(node, hasExtensions: hasExtensions)
            entries[serialNumber] = entry
        }
        return entries
    }
}
