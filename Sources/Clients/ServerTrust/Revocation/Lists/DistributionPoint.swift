import SwiftASN1
import X509

/// Where a certificate says that lists are (cRLDistributionPoints, RFC 5280, 4.2.1.13).
struct DistributionPoint: Sendable {
    let name: DistributionPointName?
    /// Whether the list there is about all reasons, and the issuer's own.
    let isComplete: Bool
}

extension DistributionPoint {
    private static let identifier: ASN1ObjectIdentifier = [2, 5, 29, 31]

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
}

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

/// Which certificates a list is about (RFC 5280, 5.2.5). Without the extension, all of its issuer.
struct IssuingDistributionPoint: Sendable {
    /// Nil if it is not limited to those that name such a point.
    var point: DistributionPointName?
    var isOnlyServers = false
    var isOnlyAuthorities = false
    var isOnlyAttributes = false
    /// Whether a certificate that is not on it may be revoked for other reasons.
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

/// Goes through what stands in DER, element by element (X.690, 8.1 and 10.1), and makes nothing of what it passes by.
///
/// The parser of SwiftASN1 reads all that is nested in a document before anything is known of it, which takes thirty times its size. For
/// what is long and not yet verified.
struct DERWalk {
    struct Element {
        let tag: UInt8
        /// All of it.
        let encoded: ArraySlice<UInt8>
        let content: ArraySlice<UInt8>

        /// For what is short: parsed as a whole.
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

    /// The next element; nil at the end.
    mutating func next() throws -> Element? {
        guard let tag = rest.first else { return nil }
        guard tag & 0x1f != 0x1f, rest.count >= 2 else { throw Self.broken("an element is cut off, or has a long tag") }
        var start = rest.startIndex + 2
        var count = Int(rest[start - 1])
        if count >= 0x80 {
            let digits = count & 0x7f
            guard (1...4).contains(digits), rest.endIndex - start >= digits else {
                throw Self.broken("a length is none")
            }
            count = rest[start..<start + digits].reduce(0) { $0 << 8 | Int($1) }
            // The shortest form is the only one.
            guard count >= 0x80, digits == 1 || count >> (8 * (digits - 1)) > 0 else {
                throw Self.broken("a length is not in its shortest form")
            }
            start += digits
        }
        guard rest.endIndex - start >= count else { throw Self.broken("an element is cut off") }
        let element = Element(tag: tag, encoded: rest[..<(start + count)], content: rest[start..<start + count])
        rest = rest[(start + count)...]
        return element
    }

    /// The next element, which must have this tag.
    mutating func next(_ tag: UInt8, _ name: String) throws -> Element {
        guard let element = try next(), element.tag == tag else { throw Self.broken("there is no \(name)") }
        return element
    }

    /// Nothing more may follow.
    func end() throws {
        guard rest.isEmpty else { throw Self.broken("there is more than belongs there") }
    }

    private static func broken(_ reason: String) -> ASN1Error { .invalidASN1Object(reason: reason) }
}
