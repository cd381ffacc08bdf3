import SwiftASN1
import X509

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
