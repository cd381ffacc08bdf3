import SwiftASN1
import X509

/// A response of the basic type (OCSPResponse and BasicOCSPResponse, RFC 6960, 4.2.1). swift-certificates reads them too, but shows
/// them to nobody, and its policy neither takes stapled ones nor says why one was refused.
struct OCSPResponse {
    private static let basic: ASN1ObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 48, 1, 1]

    let data: OCSPResponseData
    let signed: Signed
    /// Certificates that may be of the one who has signed, each in DER.
    let certificates: [[UInt8]]

    init(der: [UInt8]) throws(RevocationProblem) {
        do {
            self = try Self.read(der)
        } catch let problem as RevocationProblem {
            throw problem
        } catch {
            throw .malformed(error.plainText)
        }
    }

    private init(data: OCSPResponseData, signed: Signed, certificates: [[UInt8]]) {
        self.data = data
        self.signed = signed
        self.certificates = certificates
    }

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
                throw ASN1Error.invalidASN1Object(reason: "a response has three parts")
            }
            let certificates = try DER.optionalExplicitlyTagged(&nodes, tagNumber: 0, tagClass: .contextSpecific) {
                try Self.certificates($0)
            }
            return OCSPResponse(
                data: try OCSPResponseData(body),
                signed: try Signed(body.encodedBytes, algorithm: algorithm, signature: signature),
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

    private static func certificates(_ node: ASN1Node) throws -> [[UInt8]] {
        guard node.identifier == .sequence, case .constructed(let nodes) = node.content else {
            throw ASN1Error.unexpectedFieldType(node.identifier)
        }
        return nodes.map { Array($0.encodedBytes) }
    }
}
