import SwiftASN1

extension CertificateFields {
    /// The bits of an RSA key's modulus (RFC 8017, A.1.1); nil for other keys. A short key is not read at all, and that this was
    /// why should be told.
    var rsaBits: Int? {
        let modulus = try? DER.sequence(try DER.parse(subjectPublicKeyInfo), identifier: .sequence) { nodes in
            guard let algorithm = nodes.next() else { return nil as ArraySlice<UInt8>? }
            let isRSA = try Self.identifier(of: algorithm) == [1, 2, 840, 113_549, 1, 1, 1]
            let key = try ASN1BitString(derEncoded: &nodes)
            return isRSA ? try Self.modulus(of: Array(key.bytes)) : nil
        }
        guard let modulus = modulus ?? nil, let first = modulus.first(where: { $0 != 0 }) else { return nil }
        return modulus.drop { $0 == 0 }.count * 8 - first.leadingZeroBitCount
    }

    /// The key without its algorithm: the contents of subjectPublicKey (RFC 5280, 4.1), which OCSP hashes.
    var publicKeyBits: ArraySlice<UInt8> {
        let bits = try? DER.sequence(try DER.parse(subjectPublicKeyInfo), identifier: .sequence) { nodes in
            _ = nodes.next()  // algorithm
            return try ASN1BitString(derEncoded: &nodes).bytes
        }
        return bits ?? []
    }

    private static func modulus(of key: [UInt8]) throws -> ArraySlice<UInt8> {
        try DER.sequence(try DER.parse(key), identifier: .sequence) { nodes in
            let modulus = try ArraySlice<UInt8>(derEncoded: &nodes)
            while nodes.next() != nil {}
            return modulus
        }
    }
}
