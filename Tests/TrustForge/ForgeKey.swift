import Crypto
import CryptoExtras
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

    /// Made once, for it takes long.
    package static let rsa1024 = rsa(1024)

    private static func rsa(_ bits: Int) -> ForgeKey {
        guard let key = try? _RSA.Signing.PrivateKey(unsafeKeySize: .init(bitCount: bits)) else {
            fatalError("no RSA key of \(bits) bits can be made")
        }
        return ForgeKey(key: Certificate.PrivateKey(key))
    }
}
