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

/// No signature is made with SHA-1 (RFC 9155; chosen-prefix collisions cost little since 2020). An anchor's own proves nothing and
/// is not looked at. MD5 and older are not even read.
struct SignatureStrengthPolicy: TrustPolicy {
    func check(_ chain: [TrustCertificate], at time: TrustTime) throws(TrustFailure) {
        for certificate in chain.dropLast() where certificate.x509.signatureAlgorithm == .sha1WithRSAEncryption {
            throw .weakSignature(subject: certificate.description, algorithm: "SHA-1 with RSA")
        }
    }
}

/// Where a certificate says what its key is for, it is for that (keyUsage, RFC 5280, 4.2.1.3): an authority's for signing
/// certificates, a server's for one of the three ways in which TLS uses keys.
struct KeyUsagePolicy: TrustPolicy {
    func check(_ chain: [TrustCertificate], at time: TrustTime) throws(TrustFailure) {
        for (index, certificate) in chain.enumerated() {
            guard let usage = try certificate.keyUsage() else { continue }
            if index > 0 {
                guard usage.keyCertSign else {
                    throw .keyUsage(subject: certificate.description, needed: "signing certificates")
                }
            } else if chain.count > 1 || !certificate.isAuthority {
                guard usage.digitalSignature || usage.keyEncipherment || usage.keyAgreement else {
                    throw .keyUsage(subject: certificate.description, needed: "TLS")
                }
            }
        }
    }
}

/// Where a certificate says for which protocols it is, TLS servers are among them (extendedKeyUsage, RFC 5280, 4.2.1.12).
///
/// The server's own must name them: "any" is what OpenSSL and browsers do not take there either. An intermediate that names
/// others limits what is below it, "any" does not. Anchors are not asked.
struct ExtendedKeyUsagePolicy: TrustPolicy {
    func check(_ chain: [TrustCertificate], at time: TrustTime) throws(TrustFailure) {
        for (index, certificate) in chain.enumerated() where index == 0 || index < chain.count - 1 {
            guard let usages = try certificate.extendedKeyUsage() else { continue }
            guard usages.contains(.serverAuth) || index > 0 && usages.contains(.any) else {
                throw .extendedKeyUsage(subject: certificate.description)
            }
        }
    }
}
