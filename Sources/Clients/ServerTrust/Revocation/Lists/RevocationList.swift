import Crypto
import LinuxSupport
import SwiftASN1
import X509

/// A parsed certificate revocation list (CertificateList, RFC 5280, 5). Copies share its content.
///
/// The signature is not verified when the list is parsed. It is verified when a certificate is looked up, because the
/// issuer's key is known only then.
public struct RevocationList: Sendable {
    let content: RevocationListContent

    /// The name of the list in failures and records: its file or URL.
    public let name: String

    /// Parses a list in DER.
    ///
    /// - Throws: ``RevocationProblem/malformed(_:)``, or ``RevocationProblem/deltaList``,
    ///   ``RevocationProblem/indirectList`` or ``RevocationProblem/criticalExtension(identifier:)`` for unsupported
    ///   lists.
    public init(derEncoded der: [UInt8], name: String) throws(RevocationProblem) {
        try self.init(der, name: name, checksEntries: true)
    }

    /// Parses a list in DER.
    ///
    /// - Parameter checksEntries: A Boolean value that indicates whether all entries are checked now. If false, an
    ///   invalid entry is an error when a certificate is looked up.
    private init(_ der: [UInt8], name: String, checksEntries: Bool) throws(RevocationProblem) {
        self.name = name
        do {
            content = try RevocationListContent(der: der)
            if checksEntries { try content.entries.check() }
        } catch let problem as RevocationProblem {
            throw problem
        } catch {
            throw .malformed(error.plainText)
        }
    }

    /// Reads the lists of a file: one in DER, or any number in PEM (`X509 CRL`).
    ///
    /// - Parameters:
    ///   - path: The path of the file, which becomes the name of the lists.
    ///   - limit: The maximum size of the file in bytes.
    /// - Throws: ``RevocationProblem`` for the first invalid list, because certificates on a skipped list would be
    ///   accepted.
    public static func read(_ path: String, limit: Int = 64 << 20) throws(RevocationProblem) -> [RevocationList] {
        let bytes: [UInt8]
        do {
            bytes = try InputFile.read(path, limit: limit)
        } catch {
            guard error != .fileTooLarge else { throw .tooLarge(limit: limit) }
            throw .unreachable(error.description)
        }
        return try lists(in: bytes, name: path, checksEntries: true)
    }

    /// Parses a list in DER or PEM from an unverified source. Its entries are not checked until the signature is
    /// verified.
    package init(bytes: [UInt8], name: String) throws(RevocationProblem) {
        guard let first = try Self.lists(in: bytes, name: name, checksEntries: false).first else {
            throw .malformed("the data contains no list")
        }
        self = first
    }

    /// The name of the issuer.
    public var issuer: String { content.issuer.readable }

    /// The time when the list was issued.
    public var thisUpdate: TrustTime { content.thisUpdate }

    /// The time by which the next list will be issued; nil if the list does not contain it.
    public var nextUpdate: TrustTime? { content.nextUpdate }

    /// The number of revoked certificates. They are counted in each call.
    public var count: Int { content.entries.count }

    private static func lists(
        in bytes: [UInt8],
        name: String,
        checksEntries: Bool
    ) throws(RevocationProblem) -> [RevocationList] {
        let blocks = PEMBlocks.documents(in: bytes, type: "X509 CRL")
        var lists: [RevocationList] = []
        for block in blocks.isEmpty ? [bytes] : blocks {
            guard let block else { throw .malformed("cannot decode a PEM block") }
            lists.append(try RevocationList(block, name: name, checksEntries: checksEntries))
        }
        return lists
    }
}

/// The content of a list (TBSCertList, RFC 5280, 5.1). Only the fields around the entries are parsed, because there may
/// be many entries. The entries of a fetched list are parsed after its signature is verified. Those of a given list are
/// checked when it is created.
final class RevocationListContent: Sendable {
    let issuer: DistinguishedName
    let thisUpdate: TrustTime
    let nextUpdate: TrustTime?
    let scope: IssuingDistributionPoint
    let entries: RevocationListEntries
    let signed: SignedData
    let fingerprint: [UInt8]

    private static let deltaIndicator: ASN1ObjectIdentifier = [2, 5, 29, 27]
    private static let times: Set<UInt8> = [0x17, 0x18]

    init(der: [UInt8]) throws {
        var document = DERCursor(der[...])
        var parts = DERCursor(try document.next(0x30, "list").content)
        try document.end()
        let body = try parts.next(0x30, "list")
        let algorithm = try parts.next(0x30, "signature algorithm")
        let signature = try parts.next(0x03, "signature")
        try parts.end()
        signed = try SignedData(
            body.encoded,
            algorithm: try algorithm.parsed("the signature algorithm"),
            signature: try signature.parsed("the signature")
        )
        var cursor = DERCursor(body.content)
        let version = cursor.nextTag == 0x02 ? try cursor.next()?.content : nil
        guard version == nil || version == [0] || version == [1] else {
            throw ASN1Error.invalidASN1Object(reason: "the version is neither 1 nor 2")
        }
        guard try cursor.next()?.encoded == algorithm.encoded else {
            throw ASN1Error.invalidASN1Object(reason: "the two signature algorithms differ (RFC 5280, 5.1.1.2)")
        }
        let name = try cursor.next(0x30, "issuer").parsed("the issuer's name")
        try name.requireSmallSets()
        issuer = try DistinguishedName(derEncoded: name)
        guard let first = try cursor.next() else { throw ASN1Error.invalidASN1Object(reason: "there is no thisUpdate") }
        thisUpdate = try TrustTime(try first.parsed("thisUpdate"))
        let hasNextUpdate = cursor.nextTag.map(Self.times.contains) ?? false
        nextUpdate = hasNextUpdate ? try cursor.next().map { try TrustTime(try $0.parsed("nextUpdate")) } : nil
        let list = cursor.nextTag == 0x30 ? try cursor.next() : nil
        entries = RevocationListEntries(list?.content ?? [], hasExtensions: version == [1])
        let extensions = try Self.extensions(&cursor, areAllowed: version == [1])
        // A delta list is refused even if the extension is not critical, because a certificate that is missing there
        // may be on the base list.
        guard extensions[oid: Self.deltaIndicator] == nil else { throw RevocationProblem.deltaList }
        try extensions.requireNoCritical(but: [IssuingDistributionPoint.identifier])
        if let nextUpdate, nextUpdate < thisUpdate {
            throw ASN1Error.invalidASN1Object(reason: "nextUpdate is before thisUpdate")
        }
        scope = try IssuingDistributionPoint(of: extensions)
        fingerprint = Array(SHA256.hash(data: der))
    }

    private static func extensions(_ cursor: inout DERCursor, areAllowed: Bool) throws -> Certificate.Extensions {
        guard let extensions = cursor.nextTag == 0xa0 ? try cursor.next() : nil else {
            try cursor.end()
            return Certificate.Extensions()
        }
        try cursor.end()
        guard areAllowed else {
            throw ASN1Error.invalidASN1Object(reason: "a list of version 1 has extensions (RFC 5280, 5.1.2.1)")
        }
        var inside = DERCursor(extensions.content)
        let list = try inside.next(0x30, "extension").parsed("the list of extensions")
        try inside.end()
        return try Certificate.Extensions(encoded: list)
    }
}

/// An entry of a list (RFC 5280, 5.1.2.6 and 5.3).
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
                throw ASN1Error.invalidASN1Object(reason: "a list of version 1 has extensions (RFC 5280, 5.1.2.1)")
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

/// The entries of a list, kept in their encoded form until a certificate is looked up, because a fetched list is
/// trusted only after its signature is verified. Thread-safe.
///
/// The first lookup parses all entries and stores the position of each, in about ten bytes per entry.
final class RevocationListEntries: Sendable {
    /// The encoding of entry extensions with only a reason, without the value of the reason.
    private static let onlyReason: [UInt8] = [0x30, 12, 0x30, 10, 0x06, 3, 0x55, 0x1d, 21, 0x04, 3, 0x0a, 1]

    private let bytes: ArraySlice<UInt8>
    private let hasExtensions: Bool
    /// The position of the last entry for each hash of a serial number; nil before the first lookup.
    private let places = Locked<[Int: Int]?>(nil)

    /// Creates the entries.
    ///
    /// - Parameters:
    ///   - bytes: The contents of revokedCertificates (RFC 5280, 5.1.2.6).
    ///   - hasExtensions: A Boolean value that indicates whether the version of the list permits extensions of entries.
    init(_ bytes: ArraySlice<UInt8>, hasExtensions: Bool) {
        self.bytes = bytes
        self.hasExtensions = hasExtensions
    }

    /// The number of entries up to the first invalid one.
    var count: Int {
        var cursor = DERCursor(bytes)
        var count = 0
        while (try? cursor.next()) != nil { count += 1 }
        return count
    }

    /// Returns the entry of a certificate; nil if it is not on the list.
    ///
    /// - Parameter serialNumber: The contents of the INTEGER.
    /// - Throws: ``RevocationProblem`` if an entry is invalid or unsupported.
    func entry(of serialNumber: ArraySlice<UInt8>) throws(RevocationProblem) -> RevocationListEntry? {
        do {
            guard let place = try readPlaces()[serialNumber.hashValue] else { return nil }
            if let entry = try entry(at: place, of: serialNumber) { return entry }
            // Another serial number has the same hash.
            var found: RevocationListEntry?
            try forEachEntry { found = try entry(at: $0.encoded.startIndex, of: serialNumber) ?? found }
            return found
        } catch let problem as RevocationProblem {
            throw problem
        } catch {
            throw .malformed(error.plainText)
        }
    }

    /// Checks all entries.
    func check() throws {
        _ = try readPlaces()
    }

    private func readPlaces() throws -> [Int: Int] {
        if let known = places.withLock({ $0 }) { return known }
        var found: [Int: Int] = [:]
        try forEachEntry { entry in
            var parts = DERCursor(entry.content)
            let serialNumber = try parts.next(0x02, "serial number").content
            // Most entries have only a time and a reason.
            let hasTime = try parts.next().map { $0.tag == 0x17 || $0.tag == 0x18 } ?? false
            let isUsual = isUsual(try parts.next())
            if !hasTime || !isUsual || parts.nextTag != nil {
                _ = try RevocationListEntry.read(try entry.parsed("an entry"), hasExtensions: hasExtensions)
            }
            found[serialNumber.hashValue] = entry.encoded.startIndex
        }
        places.withLock { $0 = found }
        return found
    }

    private func isUsual(_ extensions: DERCursor.Element?) -> Bool {
        guard let encoded = extensions?.encoded else { return true }
        return hasExtensions && encoded.count == Self.onlyReason.count + 1 && encoded.starts(with: Self.onlyReason)
    }

    private func entry(at place: Int, of serialNumber: ArraySlice<UInt8>) throws -> RevocationListEntry? {
        var cursor = DERCursor(bytes[place...])
        guard let node = try cursor.next()?.parsed("an entry") else { return nil }
        let (number, entry) = try RevocationListEntry.read(node, hasExtensions: hasExtensions)
        return number == serialNumber ? entry : nil
    }

    private func forEachEntry(_ body: (DERCursor.Element) throws -> Void) throws {
        var cursor = DERCursor(bytes)
        while cursor.nextTag != nil { try body(try cursor.next(0x30, "entry")) }
    }
}

extension RevocationChecker {
    /// Evaluates a list for one certificate (RFC 5280, 6.3.3).
    func result(
        _ list: RevocationList,
        about query: RevocationQuery
    ) throws(RevocationProblem) -> RevocationResult {
        let content = list.content
        guard content.issuer == query.certificate.x509.issuer else { throw .otherIssuer }
        guard content.scope.includes(query.certificate) else { throw .outOfScope }
        if let usage = try? query.issuer.keyUsage(), !usage.cRLSign { throw .mayNotSignLists }
        try cache.check(list, query)
        // The entries are parsed after the signature is verified, because any server could send a list for the URL.
        let record = try content.entries.entry(of: query.certificate.fields.serialNumber).map { entry in
            RevocationRecord(time: entry.time, reason: entry.reason, source: .list(list.name))
        }
        // A revocation is permanent, so an outdated list counts too. Only a hold can end (RFC 5280, 5.3.1).
        if record == nil || record?.reason == .certificateHold {
            guard content.thisUpdate <= query.time.advanced(by: settings.clockSkew) else {
                throw .notYetValid(content.thisUpdate)
            }
            guard let nextUpdate = content.nextUpdate else { throw .withoutNextUpdate }
            guard query.time <= nextUpdate.advanced(by: settings.clockSkew) else { throw .expired(nextUpdate) }
            guard record != nil || !content.scope.hasOnlySomeReasons else { throw .outOfScope }
        }
        return RevocationResult(record, from: content.thisUpdate, to: content.nextUpdate, about: query, settings)
    }
}
