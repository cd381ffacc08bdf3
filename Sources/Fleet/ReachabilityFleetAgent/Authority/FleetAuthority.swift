import Crypto
import LinuxSupport
package import ServerTrust
import SwiftASN1
import X509

/// Who signs for a fleet: a certificate that signs itself, and its key on P-256. Pure: it keeps nothing, and has no clock.
package struct FleetAuthority: Sendable {
    /// The longest anything is valid: a hundred years.
    static let longest = Duration.seconds(36_525 * 86_400)
    /// So much earlier than now begins what is made: clocks of machines are behind.
    static let tolerance = Duration.seconds(-3600)

    /// That of the authority itself.
    package let certificate: FleetCertificate
    let key: Certificate.PrivateKey

    /// A new one.
    ///
    /// - Parameters:
    ///   - name: 1 to 64 characters that can be seen. Two authorities of one name are taken for each other.
    ///   - validity: How long it is valid.
    /// - Throws: ``FleetCertificateError/name(_:rule:)``, ``FleetCertificateError/tooLong(until:authority:)`` or
    ///   ``FleetCertificateError/unmade(_:)``.
    package static func make(
        name: String,
        validity: Duration,
        serial: CertificateSerial,
        now: TrustTime
    ) throws(FleetCertificateError) -> FleetAuthority {
        guard (1...64).contains(name.unicodeScalars.count), name.printable == name else {
            throw .name(name, rule: "1 to 64 characters that can be seen")
        }
        guard validity <= longest else {
            throw .tooLong(until: now.advanced(by: validity), authority: now.advanced(by: longest))
        }
        let key = Certificate.PrivateKey(P256.Signing.PrivateKey())
        let own = SubjectKeyIdentifier(hash: key.publicKey)
        do {
            let subject = try DERBytes.value(try DistinguishedName { CommonName(name) })
            let body = DERBytes.sequence(
                DERBytes.tagged(0, DERBytes.integer(2)),
                DERBytes.integer(serial.bytes),
                try DERBytes.algorithm,
                subject,
                DERBytes.sequence(
                    DERBytes.time(now.advanced(by: tolerance)),
                    DERBytes.time(now.advanced(by: validity))
                ),
                subject,
                try DERBytes.value(key.publicKey),
                DERBytes.tagged(
                    3,
                    try DERBytes.extensions([
                        // It signs machines, and no other authorities.
                        Certificate.Extension(
                            BasicConstraints.isCertificateAuthority(maxPathLength: 0),
                            critical: true
                        ),
                        Certificate.Extension(KeyUsage(keyCertSign: true, cRLSign: true), critical: true),
                        Certificate.Extension(own, critical: false),
                    ])
                )
            )
            return FleetAuthority(
                certificate: try FleetCertificate(der: try DERBytes.signed(body, by: key)),
                key: key
            )
        } catch {
            throw .unmade((error as? UnusableCertificate)?.why ?? error.plainText)
        }
    }

    private init(certificate: FleetCertificate, key: Certificate.PrivateKey) {
        (self.certificate, self.key) = (certificate, key)
    }

    /// Takes one that is there, also one that OpenSSL has made.
    ///
    /// - Throws: The reason why it cannot be used, in words.
    init(certificate: TrustCertificate, key pem: [UInt8]) throws(UnusableCertificate) {
        guard let key = Certificate.PrivateKey(in: pem), P256.Signing.PublicKey(key.publicKey) != nil else {
            throw UnusableCertificate(why: "it is no key on P-256 in PEM, without a passphrase")
        }
        self.key = key
        self.certificate = try FleetCertificate(certificate)
        guard certificate.x509.publicKey == self.key.publicKey else {
            throw UnusableCertificate(why: "it is not the key of the authority's certificate")
        }
        guard FleetCertificate.isIssued(certificate, by: certificate) else {
            throw UnusableCertificate(why: "the authority's certificate has not signed itself")
        }
    }

    /// Which of its keys an authority has signed with, for what it signs.
    var keyIdentifier: Certificate.Extension {
        get throws {
            let own =
                try certificate.certificate.x509.extensions.subjectKeyIdentifier
                ?? SubjectKeyIdentifier(hash: key.publicKey)
            return try Certificate.Extension(
                AuthorityKeyIdentifier(keyIdentifier: own.keyIdentifier),
                critical: false
            )
        }
    }

    /// Its name, as what it signs has it.
    var subject: [UInt8] {
        get throws { try DERBytes.value(certificate.certificate.x509.subject) }
    }
}
