import SwiftASN1
import X509

/// The fields of a list behind its algorithm (TBSCertList, RFC 5280, 5.1.2).
struct RevocationListFields {
    private static let deltaIndicator: ASN1ObjectIdentifier = [2, 5, 29, 27]
    private static let times: Set<UInt8> = [0x17, 0x18]

    let issuer: DistinguishedName
    let thisUpdate: TrustTime
    let nextUpdate: TrustTime?
    let entries: RevocationListEntries
    let extensions: Certificate.Extensions

    init(_ walk: inout DERWalk, hasExtensions: Bool) throws {
        let name = try walk.next(0x30, "issuer").parsed("the issuer's name")
        try name.requireSmallSets()
        issuer = try DistinguishedName(derEncoded: name)
        guard let first = try walk.next() else { throw ASN1Error.invalidASN1Object(reason: "there is no thisUpdate") }
        thisUpdate = try TrustTime(try first.parsed("thisUpdate"))
        let hasNextUpdate = walk.nextTag.map(Self.times.contains) ?? false
        nextUpdate = hasNextUpdate ? try walk.next().map { try TrustTime(try $0.parsed("nextUpdate")) } : nil
        let entries = walk.nextTag == 0x30 ? try walk.next() : nil
        self.entries = RevocationListEntries(entries?.content ?? [], hasExtensions: hasExtensions)
        let extensions = walk.nextTag == 0xa0 ? try walk.next() : nil
        try walk.end()
        guard hasExtensions || extensions == nil else {
            throw ASN1Error.invalidASN1Object(reason: "version 1 has no extensions (RFC 5280, 5.1.2.1)")
        }
        self.extensions =
            try extensions.map { extensions in
                var inside = DERWalk(extensions.content)
                let list = try inside.next(0x30, "extension").parsed("the list of extensions")
                try inside.end()
                return try Certificate.Extensions(encoded: list)
            } ?? Certificate.Extensions()
        // Whether it is marked critical or not: what is missing on it is on another.
        guard self.extensions[oid: Self.deltaIndicator] == nil else { throw RevocationProblem.deltaList }
        try self.extensions.requireNoCritical(but: [IssuingDistributionPoint.identifier])
        if let nextUpdate, nextUpdate < thisUpdate {
            throw ASN1Error.invalidASN1Object(reason: "nextUpdate is before thisUpdate")
        }
    }
}
