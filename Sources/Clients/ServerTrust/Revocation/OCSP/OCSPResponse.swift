import SwiftASN1
import X509

/// A basic OCSP response (OCSPResponse and BasicOCSPResponse, RFC 6960, 4.2.1). swift-certificates can parse responses
/// too, but its types are not public, and its policy neither accepts stapled responses nor reports why one was refused.
struct OCSPResponse {
    let data: OCSPResponseData
    let signed: SignedData
    /// The certificates in the response, each in DER. One of them may be the signer's.
    let certificates: [[UInt8]]
}

extension OCSPResponse {
    init(der: [UInt8]) throws(RevocationProblem) {
        do {
            self = try Self.read(der)
        } catch let problem as RevocationProblem {
            throw problem
        } catch {
            throw .malformed(error.plainText)
        }
    }

    private static let basic: ASN1ObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 48, 1, 1]

    private static func read(_ der: [UInt8]) throws -> OCSPResponse {
        let content = try DER.sequence(try DER.parse(der), identifier: .sequence) { nodes in
            let status = OCSPRefusal(rawValue: try Int(derEncoded: &nodes, withIdentifier: .enumerated))
            let content = try DER.optionalExplicitlyTagged(&nodes, tagNumber: 0, tagClass: .contextSpecific) {
                try Self.content(of: $0)
            }
            guard status.rawValue == 0 else { throw RevocationProblem.refused(status) }
            guard let content else { throw ASN1Error.invalidASN1Object(reason: "a successful response is empty") }
            return content
        }
        return try DER.sequence(try DER.parse(content), identifier: .sequence) { nodes in
            guard let body = nodes.next(), let algorithm = nodes.next(), let signature = nodes.next() else {
                throw ASN1Error.invalidASN1Object(reason: "the response has fewer than three parts")
            }
            let certificates = try DER.optionalExplicitlyTagged(&nodes, tagNumber: 0, tagClass: .contextSpecific) {
                try $0.elements().map { Array($0.encodedBytes) }
            }
            return OCSPResponse(
                data: try OCSPResponseData(body),
                signed: try SignedData(body.encodedBytes, algorithm: algorithm, signature: signature),
                certificates: certificates ?? []
            )
        }
    }

    private static func content(of node: ASN1Node) throws -> ArraySlice<UInt8> {
        try DER.sequence(node, identifier: .sequence) { nodes in
            let type = try ASN1ObjectIdentifier(derEncoded: &nodes)
            guard type == basic else { throw ASN1Error.invalidASN1Object(reason: "the response is of type \(type)") }
            return try ASN1OctetString(derEncoded: &nodes).bytes
        }
    }
}

/// The signed data of a response (ResponseData, RFC 6960, 4.2.1).
struct OCSPResponseData {
    let responder: OCSPResponderID
    let producedAt: TrustTime
    let responses: [OCSPSingleResponse]
    let extensions: Certificate.Extensions
}

extension OCSPResponseData {
    init(_ node: ASN1Node) throws {
        self = try DER.sequence(node, identifier: .sequence) { nodes in
            let version = try DER.optionalExplicitlyTagged(&nodes, tagNumber: 0, tagClass: .contextSpecific) {
                try Int(derEncoded: $0)
            }
            guard version ?? 0 == 0 else { throw ASN1Error.invalidASN1Object(reason: "the version is not 1") }
            return OCSPResponseData(
                responder: try OCSPResponderID(nodes.next()),
                producedAt: TrustTime(try GeneralizedTime(derEncoded: &nodes)),
                responses: try nodes.next("list of responses").elements().map { try OCSPSingleResponse($0) },
                extensions: try DER.optionalExplicitlyTagged(&nodes, tagNumber: 1, tagClass: .contextSpecific) {
                    try Certificate.Extensions(encoded: $0)
                } ?? Certificate.Extensions()
            )
        }
    }

    /// Returns the nonce; nil if the response has no nonce.
    func nonce() throws -> [UInt8]? {
        guard let entry = extensions[oid: OCSPRequest.nonceIdentifier] else { return nil }
        return Array(try ASN1OctetString(derEncoded: entry.value).bytes)
    }
}

/// The status of one certificate (SingleResponse, RFC 6960, 4.2.1).
struct OCSPSingleResponse {
    let id: OCSPCertificateID
    let status: OCSPCertificateStatus
    let thisUpdate: TrustTime
    let nextUpdate: TrustTime?
    let extensions: Certificate.Extensions
}

extension OCSPSingleResponse {
    init(_ node: ASN1Node) throws {
        self = try DER.sequence(node, identifier: .sequence) { nodes in
            OCSPSingleResponse(
                id: try OCSPCertificateID(try nodes.next("CertID")),
                status: try OCSPCertificateStatus(try nodes.next("status")),
                thisUpdate: TrustTime(try GeneralizedTime(derEncoded: &nodes)),
                nextUpdate: try DER.optionalExplicitlyTagged(&nodes, tagNumber: 0, tagClass: .contextSpecific) {
                    TrustTime(try GeneralizedTime(derEncoded: $0))
                },
                extensions: try DER.optionalExplicitlyTagged(&nodes, tagNumber: 1, tagClass: .contextSpecific) {
                    try Certificate.Extensions(encoded: $0)
                } ?? Certificate.Extensions()
            )
        }
        if let nextUpdate, nextUpdate < thisUpdate {
            throw ASN1Error.invalidASN1Object(reason: "nextUpdate is before thisUpdate")
        }
    }
}

/// The revocation status of a certificate (CertStatus, RFC 6960, 4.2.1).
enum OCSPCertificateStatus: Hashable {
    case good
    case revoked(TrustTime, RevocationReason?)
    case unknown

    init(_ node: ASN1Node) throws {
        switch node.identifier {
        case Self.tag(0):
            _ = try ASN1Null(derEncoded: node, withIdentifier: node.identifier)
            self = .good
        case Self.tag(1):
            self = try DER.sequence(node, identifier: node.identifier) { nodes in
                let time = TrustTime(try GeneralizedTime(derEncoded: &nodes))
                let reason = try DER.optionalExplicitlyTagged(&nodes, tagNumber: 0, tagClass: .contextSpecific) {
                    RevocationReason(rawValue: try Int(derEncoded: $0, withIdentifier: .enumerated))
                }
                return .revoked(time, reason)
            }
        case Self.tag(2):
            _ = try ASN1Null(derEncoded: node, withIdentifier: node.identifier)
            self = .unknown
        default:
            throw ASN1Error.unexpectedFieldType(node.identifier)
        }
    }

    private static func tag(_ number: UInt) -> ASN1Identifier {
        ASN1Identifier(tagWithNumber: number, tagClass: .contextSpecific)
    }
}

/// The identifier of the responder that signed a response (ResponderID, RFC 6960, 4.2.1).
enum OCSPResponderID: Hashable {
    case name(DistinguishedName)
    /// The SHA-1 digest of the key.
    case key(ArraySlice<UInt8>)

    init(_ node: ASN1Node?) throws {
        guard let node, case .constructed(let nodes) = node.content else {
            throw ASN1Error.invalidASN1Object(reason: "the responder has neither a name nor a key")
        }
        let children = Array(nodes)
        guard children.count == 1 else {
            throw ASN1Error.invalidASN1Object(reason: "the responder does not have exactly one name")
        }
        switch node.identifier {
        case ASN1Identifier(tagWithNumber: 1, tagClass: .contextSpecific):
            try children[0].requireSmallSets()
            self = .name(try DistinguishedName(derEncoded: children[0]))
        case ASN1Identifier(tagWithNumber: 2, tagClass: .contextSpecific):
            self = .key(try ASN1OctetString(derEncoded: children[0]).bytes)
        default:
            throw ASN1Error.invalidASN1Object(reason: "the responder has neither a name nor a key")
        }
    }

    /// Returns whether a certificate has this name or key.
    func names(_ certificate: TrustCertificate) -> Bool {
        switch self {
        case .name(let name): certificate.x509.subject == name
        case .key(let hash): OCSPDigest.sha1.hash(certificate.fields.publicKeyBits) == hash
        }
    }
}
