package import ServerTrust
package import X509

/// A certificate of our own making, with its key.
package struct Forged: Sendable {
    package let x509: Certificate
    package let der: [UInt8]
    package let key: ForgeKey

    /// For those that can be read.
    package var certificate: TrustCertificate {
        do {
            return try TrustCertificate(derEncoded: der)
        } catch {
            fatalError("a forged certificate cannot be read: \(error)")
        }
    }

    package var pin: PublicKeyPin { PublicKeyPin(certificate) }

    /// The same certificate in the hands of somebody with another key.
    package func inHands(of key: ForgeKey) -> Forged { Forged(x509: x509, der: der, key: key) }
}
