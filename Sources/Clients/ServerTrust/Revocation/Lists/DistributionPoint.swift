import SwiftASN1
import X509

/// A distribution point of revocation lists in a certificate (cRLDistributionPoints, RFC 5280, 4.2.1.13).
struct DistributionPoint: Sendable {
    let name: DistributionPointName?
    /// A Boolean value that indicates whether the list covers all reasons and is issued by the issuer of the
    /// certificate.
    let isComplete: Bool
}

extension DistributionPoint {
    private static let identifier: ASN1ObjectIdentifier = [2, 5, 29, 31]

    /// Returns the distribution points of a certificate; empty if there is no extension or it cannot be parsed.
    static func all(of certificate: TrustCertificate) -> [DistributionPoint] {
        guard let entry = certificate.x509.extensions[oid: identifier] else { return [] }
        return (try? DER.parse(entry.value).elements().map { try DistributionPoint($0) }) ?? []
    }

    /// Returns the URLs of the supported lists.
    static func locations(in certificate: TrustCertificate) -> [String] {
        all(of: certificate).filter(\.isComplete).flatMap { RevocationURL.all(in: $0.name?.names ?? []).prefix(1) }
    }

    private init(_ node: ASN1Node) throws {
        self = try DER.sequence(node, identifier: .sequence) { nodes in
            let name = try DER.optionalExplicitlyTagged(&nodes, tagNumber: 0, tagClass: .contextSpecific) {
                try DistributionPointName($0)
            }
            // The remaining fields are reasons or another issuer.
            let isComplete = nodes.next() == nil
            while nodes.next() != nil {}
            return DistributionPoint(name: name, isComplete: isComplete)
        }
    }
}

/// The name of a distribution point (DistributionPointName, RFC 5280, 4.2.1.13). Names relative to the issuer are not
/// used in practice: they are parsed, but match no list.
struct DistributionPointName: Sendable {
    let names: [GeneralName]

    init(_ node: ASN1Node) throws {
        switch node.identifier {
        case ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific):
            guard case .constructed(let nodes) = node.content else {
                throw ASN1Error.invalidASN1Object(reason: "the names of a distribution point are not a sequence")
            }
            names = try nodes.map { try GeneralName(derEncoded: $0) }
        case ASN1Identifier(tagWithNumber: 1, tagClass: .contextSpecific):
            names = []
        default:
            throw ASN1Error.unexpectedFieldType(node.identifier)
        }
    }

    /// Returns whether both have a name in common.
    func shares(_ other: DistributionPointName) -> Bool {
        names.contains { other.names.contains($0) }
    }
}

/// The scope of a list (RFC 5280, 5.2.5). Without the extension, the list covers all certificates of its issuer.
struct IssuingDistributionPoint: Sendable {
    /// The distribution point that a certificate must name to be covered; nil if there is no such limit.
    var point: DistributionPointName?
    var isOnlyServers = false
    var isOnlyAuthorities = false
    var isOnlyAttributes = false
    /// A Boolean value that indicates whether the list covers only some reasons, so that a certificate that is not
    /// listed may still be revoked.
    var hasOnlySomeReasons = false
}

extension IssuingDistributionPoint {
    static let identifier: ASN1ObjectIdentifier = [2, 5, 29, 28]

    init(of extensions: Certificate.Extensions) throws {
        guard let entry = extensions[oid: Self.identifier] else {
            self.init()
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

    /// Returns whether the list covers a certificate (RFC 5280, 6.3.3 (b) (2)).
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

/// A DER parser that returns one element at a time (X.690, 8.1 and 10.1) and does not parse the content of skipped
/// elements.
///
/// The parser of SwiftASN1 parses all nested elements first, which takes thirty times the size of the document in
/// memory. This type is for long data that is not yet verified.
struct DERCursor {
    struct Element {
        let tag: UInt8
        /// The complete element, with its tag and length.
        let encoded: ArraySlice<UInt8>
        let content: ArraySlice<UInt8>

        /// Parses the complete element with SwiftASN1.
        ///
        /// - Throws: `ASN1Error` if the element is invalid or longer than 64 KiB.
        func parsed(_ name: String) throws -> ASN1Node {
            let limit = 64 << 10
            guard encoded.count <= limit else {
                throw ASN1Error.invalidASN1Object(reason: "\(name) has more than \(limit) bytes")
            }
            return try DER.parse(encoded)
        }
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    /// The tag of the next element; nil at the end.
    var nextTag: UInt8? { rest.first }

    /// Returns the next element; nil at the end.
    mutating func next() throws -> Element? {
        guard let tag = rest.first else { return nil }
        guard tag & 0x1f != 0x1f, rest.count >= 2 else {
            throw Self.broken("an element is truncated, or has a long tag")
        }
        var start = rest.startIndex + 2
        var count = Int(rest[start - 1])
        if count >= 0x80 {
            let digits = count & 0x7f
            guard (1...4).contains(digits), rest.endIndex - start >= digits else {
                throw Self.broken("a length is invalid")
            }
            count = rest[start..<start + digits].reduce(0) { $0 << 8 | Int($1) }
            // DER permits only the shortest form.
            guard count >= 0x80, digits == 1 || count >> (8 * (digits - 1)) > 0 else {
                throw Self.broken("a length is not in its shortest form")
            }
            start += digits
        }
        guard rest.endIndex - start >= count else { throw Self.broken("an element is truncated") }
        let element = Element(tag: tag, encoded: rest[..<(start + count)], content: rest[start..<start + count])
        rest = rest[(start + count)...]
        return element
    }

    /// Returns the next element, which must have this tag.
    mutating func next(_ tag: UInt8, _ name: String) throws -> Element {
        guard let element = try next(), element.tag == tag else { throw Self.broken("there is no \(name)") }
        return element
    }

    /// Checks that no data follows.
    func end() throws {
        guard rest.isEmpty else { throw Self.broken("unexpected data follows") }
    }

    private static func broken(_ reason: String) -> ASN1Error { .invalidASN1Object(reason: reason) }
}
