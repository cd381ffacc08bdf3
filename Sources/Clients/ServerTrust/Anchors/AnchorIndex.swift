import LinuxSupport
import X509

/// Certificates by their subjects. Made once, shared by all who trust the same.
final class AnchorIndex: Sendable {
    let all: Set<TrustCertificate>
    private let bySubject: [DistinguishedName: [TrustCertificate]]
    /// Why there are none, if there are none.
    let problem: String?

    init(_ certificates: some Sequence<TrustCertificate>, problem: String? = nil) {
        all = Set(certificates)
        bySubject = Dictionary(grouping: all.sorted { $0.fingerprint.lexicographicallyPrecedes($1.fingerprint) }) {
            $0.x509.subject
        }
        self.problem = problem
    }

    func contains(_ certificate: TrustCertificate) -> Bool {
        all.contains(certificate)
    }

    /// Those who may have issued a certificate, by name.
    func issuers(of certificate: TrustCertificate) -> [TrustCertificate] {
        bySubject[certificate.x509.issuer] ?? []
    }
}
