import ServerTrust
import X509

/// A certificate of our own making, with its key.
struct Forged: Sendable {
    let certificate: TrustCertificate
    let key: ForgeKey

    var der: [UInt8] { certificate.derRepresentation }
    var pin: PublicKeyPin { PublicKeyPin(certificate) }
}
