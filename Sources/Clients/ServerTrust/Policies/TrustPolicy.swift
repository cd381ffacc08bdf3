import SwiftASN1
import X509

/// One rule about a chain. Pure: the same chain at the same time is judged the same, whatever else there is.
///
/// What swift-certificates checks by itself (`RFC5280Policy`: version, times, basicConstraints, nameConstraints) gives its
/// reasons as texts, lets certificates of version 1 sign others, and leaves keyUsage, extendedKeyUsage and the strength of keys
/// and signatures alone. So all rules are here.
protocol TrustPolicy: Sendable {
    /// Throws what is wrong with the chain, if anything is. The server's certificate is first, the anchor last; one alone is an
    /// anchor and the server's certificate.
    func check(_ chain: [TrustCertificate], at time: TrustTime) throws(TrustFailure)
}

/// Every certificate is encoded as the standards say, the anchor too: what different readers read differently is no ground for trust.
/// What cannot be read at all is not even here.
struct EncodingPolicy: TrustPolicy {
    func check(_ chain: [TrustCertificate], at time: TrustTime) throws(TrustFailure) {
        for certificate in chain {
            guard let fault = certificate.fields.encodingFault else { continue }
            throw .nonconformingEncoding(subject: certificate.description, detail: fault)
        }
    }
}

/// Only version 3 has extensions (RFC 5280, 4.1.2.1): a certificate with others would be read differently by everybody.
struct VersionPolicy: TrustPolicy {
    func check(_ chain: [TrustCertificate], at time: TrustTime) throws(TrustFailure) {
        for certificate in chain where certificate.x509.version != .v3 && !certificate.x509.extensions.isEmpty {
            throw .extensionsInVersion1(subject: certificate.description)
        }
    }
}

/// Every certificate's time has begun and is not over, the anchor's too (RFC 5280, 6.1.3 (a) (2)).
struct ValidityPolicy: TrustPolicy {
    func check(_ chain: [TrustCertificate], at time: TrustTime) throws(TrustFailure) {
        for certificate in chain {
            if time > certificate.notAfter {
                throw .expired(subject: certificate.description, notAfter: certificate.notAfter)
            }
            if time < certificate.notBefore {
                throw .notYetValid(subject: certificate.description, notBefore: certificate.notBefore)
            }
        }
    }
}

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
