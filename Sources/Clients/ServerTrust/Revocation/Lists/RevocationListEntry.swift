import SwiftASN1
import X509

/// One certificate on a list (RFC 5280, 5.1.2.6 and 5.3).
struct RevocationListEntry: Sendable {
    private static let reasonCode: ASN1ObjectIdentifier = [2, 5, 29, 21]
    private static let certificateIssuer: ASN1ObjectIdentifier = [2, 5, 29, 29]

    let time: TrustTime
    let reason: RevocationReason?

    static func read(
        _ node: ASN1Node,
        hasExtensions: Bool
    ) throws -> (serialNumber: ArraySlice<UInt8>, entry: RevocationListEntry) {
        try DER.sequence(node, identifier: .sequence) { nodes in
            let serialNumber = try CertificateFields.serialNumber(nodes.next())
            guard let date = nodes.next() else { throw ASN1Error.invalidASN1Object(reason: "an entry has no date") }
            let time = try TrustTime(date)
            guard let more = nodes.next() else {
                return (serialNumber, RevocationListEntry(time: time, reason: nil))
            }
            guard hasExtensions else {
                throw ASN1Error.invalidASN1Object(reason: "version 1 has no extensions (RFC 5280, 5.1.2.1)")
            }
            let extensions = try Certificate.Extensions(encoded: more)
            guard extensions[oid: certificateIssuer] == nil else { throw RevocationProblem.indirectList }
            try extensions.requireNoCritical(but: [reasonCode])
            let reason = try extensions[oid: reasonCode].map { entry in
                RevocationReason(rawValue: try Int(derEncoded: try DER.parse(entry.value), withIdentifier: .enumerated))
            }
            return (serialNumber, RevocationListEntry(time: time, reason: reason))
        }
    }
}
