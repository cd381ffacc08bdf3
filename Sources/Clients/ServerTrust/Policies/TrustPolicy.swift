import CryptoExtras
import LinuxSupport
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

/// Who has signed a certificate of the chain is an authority, and has no more authorities below it than it allows
/// (basicConstraints, RFC 5280, 4.2.1.9 and 6.1.4 (k) to (m)).
///
/// Certificates of version 1 cannot say that they are authorities, so they are none, but for anchors: to be trusted is what makes
/// those what they are.
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

/// The server's certificate is for the host that was meant (RFC 9525, section 6).
///
/// Only subjectAltName counts: a host name is compared with its dNSName entries, an address with its iPAddress entries, bit for
/// bit. `ServerIdentityPolicy` of swift-certificates falls back to the common name, which RFC 9525 has abolished.
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

/// Every name below an authority is one it may certify (nameConstraints, RFC 5280, 4.2.1.10 and 6.1.4 (g)).
///
/// swift-certificates refuses chains with constraints on directory names, which real ones have; here they are compared. A constraint
/// of a form that is not known here matters only where a name of that form is below it, and refuses that.
struct NameConstraintsPolicy: TrustPolicy {
    let budget: EvaluationBudget

    func check(_ chain: [TrustCertificate], at time: TrustTime) throws(TrustFailure) {
        for (index, authority) in chain.enumerated().dropFirst() {
            guard let constraints = try authority.nameConstraints() else { continue }
            let count = constraints.permittedSubtrees.count + constraints.excludedSubtrees.count
            // To read them is work too.
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
