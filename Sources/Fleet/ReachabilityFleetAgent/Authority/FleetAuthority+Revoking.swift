package import ServerTrust
import SwiftASN1
import X509

/// A certificate that counts no more.
package struct RevokedCertificate: Hashable, Sendable {
    package let serial: CertificateSerial
    package let since: TrustTime
    /// Whose it was, for those who read the list's source; `-` where that is no name of a machine.
    package let name: String
}

extension FleetAuthority {
    private static let number: ASN1ObjectIdentifier = [2, 5, 29, 20]

    /// The list of what counts no more, in DER (CRL, RFC 5280, 5).
    ///
    /// It says that the next one comes when the authority ends: whoever reads it refuses everybody once that has passed, and a fleet
    /// must not fall silent because nobody has revoked anything. Its number is one more than it has entries, for nothing is taken off it.
    ///
    /// - Throws: ``FleetCertificateError/unmade(_:)``.
    package func list(of revoked: [RevokedCertificate], now: TrustTime) throws(FleetCertificateError) -> [UInt8] {
        do {
            let entries = revoked.map { entry in
                DERBytes.sequence(DERBytes.integer(entry.serial.bytes), DERBytes.time(entry.since))
            }
            let number = Certificate.Extension(
                oid: Self.number,
                critical: false,
                value: DERBytes.integer(revoked.count + 1)[...]
            )
            let body = DERBytes.sequence(
                DERBytes.integer(1),
                try DERBytes.algorithm,
                try subject,
                DERBytes.time(now.advanced(by: Self.tolerance)),
                DERBytes.time(certificate.life.ends),
                // A list without entries has no sequence of them.
                entries.isEmpty ? [] : DERBytes.node(0x30, entries.flatMap(\.self)),
                DERBytes.tagged(0, try DERBytes.extensions([try keyIdentifier, number]))
            )
            return try DERBytes.signed(body, by: key)
        } catch {
            throw .unmade(error.plainText)
        }
    }
}
