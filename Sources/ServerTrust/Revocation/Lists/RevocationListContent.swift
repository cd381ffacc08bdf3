import Crypto
import SwiftASN1
import X509

/// What a list says (TBSCertList, RFC 5280, 5.1).
final class RevocationListContent: Sendable {
    let issuer: DistinguishedName
    let thisUpdate: TrustTime
    let nextUpdate: TrustTime?
    let scope: IssuingDistributionPoint
    /// By the contents of the serial number.
    let entries: [ArraySlice<UInt8>: RevocationListEntry]
    let signed: Signed
    let fingerprint: [UInt8]

    convenience init(der: [UInt8]) throws {
        let (body, algorithm, signature) = try DER.sequence(try DER.parse(der), identifier: .sequence) { nodes in
            guard let body = nodes.next(), let algorithm = nodes.next(), let signature = nodes.next() else {
                throw ASN1Error.invalidASN1Object(reason: "a list has three parts")
            }
            return (body, algorithm, signature)
        }
        let signed = try Signed(body, algorithm: algorithm, signature: signature)
        let fields = try DER.sequence(body, identifier: .sequence) { nodes in
            let version = try DER.optionalImplicitlyTagged(&nodes, tag: .integer) as Int?
            guard version ?? 0 == 0 || version == 1 else {
                throw ASN1Error.invalidASN1Object(reason: "the version is neither 1 nor 2")
            }
            guard nodes.next()?.encodedBytes == algorithm.encodedBytes else {
                throw ASN1Error.invalidASN1Object(reason: "the two signature algorithms differ (RFC 5280, 5.1.1.2)")
            }
            return try RevocationListFields(&nodes, hasExtensions: version == 1)
        }
        try self.init(fields, signed: signed, fingerprint: Array(SHA256.hash(data: der)))
    }

    private init(_ fields: RevocationListFields, signed: Signed, fingerprint: [UInt8]) throws {
        issuer = fields.issuer
        thisUpdate = fields.thisUpdate
        nextUpdate = fields.nextUpdate
        scope = try IssuingDistributionPoint(of: fields.extensions)
        entries = fields.entries
        self.signed = signed
        self.fingerprint = fingerprint
    }
}
