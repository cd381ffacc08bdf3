import SwiftASN1
import X509

/// A critical extension that no policy here heeds ends the matter (RFC 5280, 4.2).
///
/// Certificate policies are heeded by there being none that is asked for: without policyConstraints, which is critical and not
/// in this list, they decide nothing (RFC 5280, 6.1.1).
struct CriticalExtensionPolicy: TrustPolicy {
    private static let heeded: Set<ASN1ObjectIdentifier> = [
        .X509ExtensionID.basicConstraints, .X509ExtensionID.keyUsage, .X509ExtensionID.extendedKeyUsage,
        .X509ExtensionID.nameConstraints, .X509ExtensionID.subjectAlternativeName, certificatePolicies,
    ]
    private static let certificatePolicies: ASN1ObjectIdentifier = [2, 5, 29, 32]

    func check(_ chain: [TrustCertificate], at time: TrustTime) throws(TrustFailure) {
        for certificate in chain {
            for entry in certificate.x509.extensions where entry.critical && !Self.heeded.contains(entry.oid) {
                throw .criticalExtension(subject: certificate.description, identifier: entry.oid.description)
            }
        }
    }
}
