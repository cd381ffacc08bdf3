import CryptoExtras
import X509

/// RSA keys are long enough, the anchor's too. The curves that can be read here all are (P-256 and up, Ed25519).
struct KeyStrengthPolicy: TrustPolicy {
    let minimumRSABits: Int

    func check(_ chain: [TrustCertificate], at time: TrustTime) throws(TrustFailure) {
        for certificate in chain {
            guard let key = _RSA.Signing.PublicKey(certificate.x509.publicKey) else { continue }
            guard key.keySizeInBits >= minimumRSABits else {
                throw .weakKey(subject: certificate.description, bits: key.keySizeInBits)
            }
        }
    }
}
