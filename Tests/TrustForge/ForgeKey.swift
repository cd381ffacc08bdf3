import Crypto
import CryptoExtras
import SwiftASN1
package import X509

/// A key to forge certificates with. Keys on curves come from their names, so that they are the same in each run.
package struct ForgeKey: Sendable {
    package let key: Certificate.PrivateKey

    package static func p256(_ name: String) -> ForgeKey {
        // The first bytes of a hash are below the order of the curve but for one in 2^32; names that are not are found at once.
        let scalar = SHA256.hash(data: Array(name.utf8))
        guard let key = try? P256.Signing.PrivateKey(rawRepresentation: Array(scalar)) else {
            fatalError("\(name) makes no key, take another")
        }
        return ForgeKey(key: Certificate.PrivateKey(key))
    }

    package static func p384(_ name: String) -> ForgeKey {
        guard let key = try? P384.Signing.PrivateKey(rawRepresentation: Array(SHA384.hash(data: Array(name.utf8))))
        else {
            fatalError("\(name) makes no key, take another")
        }
        return ForgeKey(key: Certificate.PrivateKey(key))
    }

    package static func ed25519(_ name: String) -> ForgeKey {
        guard
            let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: Array(SHA256.hash(data: Array(name.utf8))))
        else { fatalError("\(name) makes no key, take another") }
        return ForgeKey(key: Certificate.PrivateKey(key))
    }

    /// As a file for a server that has only seen the certificate: the public key of a P-256 key, and another private one. OpenSSL
    /// compares public keys alone, takes it, and signs what nobody can verify.
    package func keylessPEM() throws -> String {
        let document = try PEMDocument(pemString: try key.serializeAsPEM().pemString)
        var der = document.derBytes
        // ECPrivateKey (RFC 5915): version 1, then 32 bytes.
        let start: [UInt8] = [0x02, 0x01, 0x01, 0x04, 0x20]
        guard let range = der.firstRange(of: start) else { fatalError("no key on P-256") }
        der[range.upperBound + 31] ^= 1
        return PEMDocument(type: document.discriminator, derBytes: der).pemString
    }

    /// Made once, for it takes long.
    package static let rsa1024 = rsa(1024)

    private static func rsa(_ bits: Int) -> ForgeKey {
        guard let key = try? _RSA.Signing.PrivateKey(unsafeKeySize: .init(bitCount: bits)) else {
            fatalError("no RSA key of \(bits) bits can be made")
        }
        return ForgeKey(key: Certificate.PrivateKey(key))
    }
}
