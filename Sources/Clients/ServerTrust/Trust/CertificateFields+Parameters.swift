import SwiftASN1

/// Parameters of RSA algorithms: NULL by the standards, and absent in certificates that some tools have made, Alamofire's own for its
/// tests among them. It means the same, so they are read; but such certificates are not what the standards say, and no chain with
/// one is valid (``EncodingPolicy``).
extension CertificateFields {
    /// What NULL is in DER.
    private static let null: ArraySlice<UInt8> = [0x05, 0x00]
    private static let rsaEncryption: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 1, 1]
    /// The content of PKCS #1's identifiers (RFC 8017, C), before the last number.
    private static let pkcs1: [UInt8] = [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01]

    /// Whether the key is one of RSA whose algorithm has no parameters, not even NULL.
    var keyLacksParameters: Bool {
        let isLacking = try? DER.sequence(try DER.parse(subjectPublicKeyInfo), identifier: .sequence) { nodes in
            defer { while nodes.next() != nil {} }
            guard let algorithm = nodes.next() else { return false }
            return try Self.identifier(of: algorithm) == Self.rsaEncryption
                && Self.parts(of: algorithm).count == 1
        }
        return isLacking ?? false
    }

    /// What is to be told of the signature algorithm inside and the one outside of what is signed: nil if they are the same.
    ///
    /// - Throws: If they differ in more than the NULL of an RSA algorithm, which the one has and the other has not.
    static func difference(of inner: ASN1Node, and outer: ASN1Node) throws -> String? {
        guard inner.encodedBytes != outer.encodedBytes else { return nil }
        let (one, other) = (parts(of: inner), parts(of: outer))
        let hasNull = [one, other].filter { $0.dropFirst() == [null] }.count == 1
        let hasNothing = [one, other].filter { $0.count == 1 }.count == 1
        guard hasNull, hasNothing, let identifier = one.first, identifier == other.first, identifier.starts(with: pkcs1)
        else {
            throw ASN1Error.invalidASN1Object(reason: "the two signature algorithms differ (RFC 5280, 4.1.1.2)")
        }
        return "of its two signature algorithms one has no parameters, the other has NULL (RFC 5280, 4.1.1.2)"
    }

    /// The certificate with NULL in its key's algorithm. Its signature is not over these bytes.
    static func withKeyParameters(_ der: [UInt8]) throws -> [UInt8] {
        guard case .constructed(let parts) = try DER.parse(der).content, let body = parts.first(where: { _ in true }),
            case .constructed(let fields) = body.content
        else { throw ASN1Error.invalidASN1Object(reason: "a certificate has three parts") }
        // Before the key: serial number, signature, issuer, validity, subject; and a version, which alone is tagged.
        let hasVersion = fields.first { _ in true }?.identifier.tagClass == .contextSpecific
        let place = hasVersion ? 6 : 5
        var serializer = DER.Serializer()
        serializer.appendConstructedNode(identifier: .sequence) { whole in
            whole.appendConstructedNode(identifier: .sequence) { body in
                for (index, field) in fields.enumerated() {
                    guard index == place else { body.serializeRawBytes(field.encodedBytes); continue }
                    Self.appendKey(field, to: &body)
                }
            }
            for part in parts.dropFirst() { whole.serializeRawBytes(part.encodedBytes) }
        }
        return serializer.serializedBytes
    }

    private static func appendKey(_ key: ASN1Node, to serializer: inout DER.Serializer) {
        guard case .constructed(let parts) = key.content else { return }
        serializer.appendConstructedNode(identifier: .sequence) { info in
            for (index, part) in parts.enumerated() {
                guard index == 0 else { info.serializeRawBytes(part.encodedBytes); continue }
                info.appendConstructedNode(identifier: .sequence) { algorithm in
                    for part in Self.parts(of: part) { algorithm.serializeRawBytes(part) }
                    algorithm.serializeRawBytes(null)
                }
            }
        }
    }

    /// The bytes of what a sequence has in it.
    private static func parts(of node: ASN1Node) -> [ArraySlice<UInt8>] {
        guard node.identifier == .sequence, case .constructed(let parts) = node.content else { return [] }
        return parts.map(\.encodedBytes)
    }
}
