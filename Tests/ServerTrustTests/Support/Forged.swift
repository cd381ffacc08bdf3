import ServerTrust
import X509

/// A certificate of our own making, with its key.
struct Forged: Sendable {
    let x509: Certificate
    let der: [UInt8]
    let key: ForgeKey

    /// For those that can be read.
    var certificate: TrustCertificate {
        do {
            return try TrustCertificate(derEncoded: der)
        } catch {
            fatalError("a forged certificate cannot be read: \(error)")
        }
    }

    var pin: PublicKeyPin { PublicKeyPin(certificate) }

    /// The same certificate in the hands of somebody with another key.
    func inHands(of key: ForgeKey) -> Forged { Forged(x509: x509, der: der, key: key) }
}
