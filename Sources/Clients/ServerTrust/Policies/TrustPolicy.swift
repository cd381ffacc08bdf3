import CryptoExtras
import LinuxSupport
import SwiftASN1
import X509

/// A rule for chains. The result depends only on the chain and the time.
///
/// `RFC5280Policy` of swift-certificates (version, times, basicConstraints, nameConstraints) is not used. It reports
/// reasons as text, accepts certificates of version 1 as issuers, and ignores keyUsage, extendedKeyUsage and the
/// strength of keys and signatures.
protocol TrustPolicy: Sendable {
    /// Throws the reason if the chain violates the rule. The server's certificate is first, and the anchor is last. A
    /// chain of one certificate is an anchor and the server's certificate.
    func check(_ chain: [TrustCertificate], at time: TrustTime) throws(TrustFailure)
}

/// A policy that requires that the encoding of every certificate, including the anchor, conforms to the standards.
/// Implementations parse other encodings differently, so they must not be trusted. Certificates that cannot be parsed
/// never reach a policy.
struct EncodingPolicy: TrustPolicy {
    func check(_ chain: [TrustCertificate], at time: TrustTime) throws(TrustFailure) {
        for certificate in chain {
            guard let fault = certificate.fields.encodingFault else { continue }
            throw .nonconformingEncoding(subject: certificate.description, detail: fault)
        }
    }
}

/// A policy that requires version 3 for certificates with extensions (RFC 5280, 4.1.2.1). Implementations interpret
/// extensions of other versions differently.
struct VersionPolicy: TrustPolicy {
    func check(_ chain: [TrustCertificate], at time: TrustTime) throws(TrustFailure) {
        for certificate in chain where certificate.x509.version != .v3 && !certificate.x509.extensions.isEmpty {
            throw .extensionsInVersion1(subject: certificate.description)
        }
    }
}

/// A policy that requires that every certificate, including the anchor, is within its validity period (RFC 5280, 6.1.3
/// (a) (2)).
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

/// A policy that refuses critical extensions that no policy supports (RFC 5280, 4.2).
///
/// The certificatePolicies extension is accepted, because no policy is required. Without policyConstraints, which is
/// critical and not supported, it has no effect (RFC 5280, 6.1.1).
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

/// A policy that requires that every issuer of the chain is a certificate authority, and that the number of authorities
/// below it is within its limit (basicConstraints, RFC 5280, 4.2.1.9 and 6.1.4 (k) to (m)).
///
/// Certificates of version 1 have no basicConstraints. They are accepted only as anchors, because an anchor is trusted
/// by configuration.
struct AuthorityPolicy: TrustPolicy {
    func check(_ chain: [TrustCertificate], at time: TrustTime) throws(TrustFailure) {
        var authoritiesBelow = 0
        for (index, certificate) in chain.enumerated().dropFirst() {
            switch try certificate.basicConstraints() {
            case .isCertificateAuthority(let limit):
                if let limit, authoritiesBelow > limit {
                    throw .pathTooLong(subject: certificate.description, limit: limit)
                }
            case .notCertificateAuthority:
                throw .notCertificateAuthority(subject: certificate.description)
            case nil:
                guard index == chain.count - 1, certificate.x509.version == .v1 else {
                    throw .notCertificateAuthority(subject: certificate.description)
                }
            }
            if !certificate.isSelfIssued { authoritiesBelow += 1 }
        }
    }
}

/// A policy that requires that the server's certificate is for the host of the connection (RFC 9525, 6).
///
/// Only subjectAltName counts: a host name is compared with dNSName entries, and an address with iPAddress entries,
/// byte by byte. `ServerIdentityPolicy` of swift-certificates falls back to the common name, which RFC 9525 forbids.
struct HostPolicy: TrustPolicy {
    let host: ServerHost

    func check(_ chain: [TrustCertificate], at time: TrustTime) throws(TrustFailure) {
        guard let leaf = chain.first else { throw .noCertificates }
        for name in try leaf.readableAlternativeNames() {
            switch (name, host.form) {
            case (.dnsName(let pattern), .name(let wanted)):
                if wanted.isMatched(byCertificate: pattern) { return }
            case (.ipAddress(let address), .address(let wanted)):
                if address.bytes.elementsEqual(wanted) { return }
            default:
                continue
            }
        }
        let names = leaf.subjectAlternativeNames
        guard !names.isEmpty else { throw .noSubjectAlternativeName(subject: leaf.description) }
        throw .hostMismatch(names: names)
    }
}

/// A policy that requires a minimum length of RSA keys, including the anchor's. All supported curves (P-256 and larger,
/// Ed25519) are strong enough.
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

/// A policy that refuses signatures with SHA-1 (RFC 9155), because chosen-prefix collisions have been affordable since
/// 2020. The anchor's own signature proves nothing and is not checked. Certificates with MD5 or older algorithms cannot
/// be parsed.
struct SignatureStrengthPolicy: TrustPolicy {
    func check(_ chain: [TrustCertificate], at time: TrustTime) throws(TrustFailure) {
        for certificate in chain.dropLast() where certificate.x509.signatureAlgorithm == .sha1WithRSAEncryption {
            throw .weakSignature(subject: certificate.description, algorithm: "SHA-1 with RSA")
        }
    }
}

/// A policy that requires that the keyUsage extension, if present, permits the use of the key (RFC 5280, 4.2.1.3):
/// signing certificates for an authority, and one of the three uses in TLS for a server.
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

/// A policy that requires that the extendedKeyUsage extension, if present, permits TLS servers (RFC 5280, 4.2.1.12).
///
/// The server's certificate must contain serverAuth. As in OpenSSL and browsers, anyExtendedKeyUsage is not sufficient
/// there. If an intermediate has the extension, it must contain either, because its usages limit the certificates below
/// it. Anchors are not checked.
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

/// A policy that requires that every name below an authority is permitted by its nameConstraints (RFC 5280, 4.2.1.10
/// and 6.1.4 (g)).
///
/// swift-certificates refuses chains with constraints on directory names, which real chains have. Here these are
/// compared. A constraint of an unsupported form applies only if a certificate below has a name of that form, which is
/// then refused.
struct NameConstraintsPolicy: TrustPolicy {
    let budget: EvaluationBudget

    func check(_ chain: [TrustCertificate], at time: TrustTime) throws(TrustFailure) {
        for (index, authority) in chain.enumerated().dropFirst() {
            guard let constraints = try authority.nameConstraints() else { continue }
            let count = constraints.permittedSubtrees.count + constraints.excludedSubtrees.count
            // Parsing the constraints takes time too.
            try budget.spendComparisons(count)
            let excluded = constraints.excludedSubtrees.map(NameConstraint.init)
            let permitted = constraints.permittedSubtrees.map(NameConstraint.init)
            for (below, certificate) in chain[..<index].enumerated() where below == 0 || !certificate.isSelfIssued {
                let names = try ConstrainedName.all(of: certificate)
                let (work, isTooMuch) = names.count.multipliedReportingOverflow(by: count)
                try budget.spendComparisons(isTooMuch ? .max : work)
                let refused = names.first {
                    !Self.isAllowed(ConstrainedName($0), permitted: permitted, excluded: excluded)
                }
                guard let refused else { continue }
                throw .nameConstraints(
                    subject: certificate.description,
                    name: Self.describe(refused),
                    constrainedBy: authority.description
                )
            }
        }
    }

    private static func isAllowed(
        _ name: ConstrainedName,
        permitted: [NameConstraint],
        excluded: [NameConstraint]
    ) -> Bool {
        guard excluded.allSatisfy({ $0.containment(of: name) ?? .outside == .outside }) else { return false }
        let matching = permitted.lazy.compactMap { $0.containment(of: name) }
        return matching.isEmpty || matching.contains(.inside)
    }

    private static func describe(_ name: GeneralName) -> String {
        switch name {
        case .dnsName(let text), .rfc822Name(let text), .uniformResourceIdentifier(let text): text
        case .directoryName(let name): name.readable
        case .ipAddress(let octets):
            "address \(WireAddress(bytes: octets.bytes)?.description ?? "of \(octets.bytes.count) bytes")"
        default: "of a form that is not supported"
        }
    }
}
