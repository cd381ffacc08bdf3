import Crypto
import SwiftASN1
import X509

/// What a list says (TBSCertList, RFC 5280, 5.1). Read is only what stands around its entries, which may be many: they are looked at
/// when the signature has been checked.
final class RevocationListContent: Sendable {
    let issuer: DistinguishedName
    let thisUpdate: TrustTime
    let nextUpdate: TrustTime?
    let scope: IssuingDistributionPoint
    let entries: RevocationListEntries
    let signed: Signed
    let fingerprint: [UInt8]

    init(der: [UInt8]) throws {
        var document = DERWalk(der[...])
        var parts = DERWalk(try document.next(0x30, "list").content)
        try document.end()
        let body = try parts.next(0x30, "list")
        let algorithm = try parts.next(0x30, "signature algorithm")
        let signature = try parts.next(0x03, "signature")
        try parts.end()
        signed = try Signed(
            body.encoded,
            algorithm: try algorithm.parsed("the signature algorithm"),
            signature: try signature.parsed("the signature")
        )
        var walk = DERWalk(body.content)
        let version = walk.nextTag == 0x02 ? try walk.next()?.content : nil
        guard version == nil || version == [0] || version == [1] else {
            throw ASN1Error.invalidASN1Object(reason: "the version is neither 1 nor 2")
        }
        guard try walk.next()?.encoded == algorithm.encoded else {
            throw ASN1Error.invalidASN1Object(reason: "the two signature algorithms differ (RFC 5280, 5.1.1.2)")
        }
        let fields = try RevocationListFields(&walk, hasExtensions: version == [1])
        issuer = fields.issuer
        thisUpdate = fields.thisUpdate
        nextUpdate = fields.nextUpdate
        scope = try IssuingDistributionPoint(of: fields.extensions)
        entries = fields.entries
        fingerprint = Array(SHA256.hash(data: der))
    }
}
