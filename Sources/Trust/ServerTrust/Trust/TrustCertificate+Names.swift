import LinuxPrimitives
import SwiftASN1
import X509

extension TrustCertificate {
    /// The host names and IP addresses it is for (subjectAltName, RFC 5280, 4.2.1.6), as texts; empty where there are none or
    /// they cannot be read.
    public var subjectAlternativeNames: [String] {
        (alternativeNames ?? []).compactMap { name in
            switch name {
            case .dnsName(let text): text
            case .ipAddress(let bytes): WireAddress(bytes: bytes.bytes)?.description
            default: nil
            }
        }
    }
}
