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

/// What a certificate is for.
package enum CertificatePurpose: Hashable, Sendable {
    /// Machines; they show it to the broker.
    case device
    /// The hub, which hears every machine.
    case hub
    /// The broker; machines connect to it by these names and addresses.
    case broker([String])
}

extension FleetAuthority {
    /// Signs what has been asked for. Of the request only the name and the key are taken.
    ///
    /// A machine's certificate is for clients alone, and the broker's for servers alone: no machine can pretend to be the broker.
    ///
    /// - Parameter validity: How long it is valid from now on.
    /// - Throws: ``FleetCertificateError/request(_:)`` where the name is the hub's and the purpose is not, or the other way;
    ///   ``FleetCertificateError/name(_:rule:)`` for a name of the broker that is none;
    ///   ``FleetCertificateError/tooLong(until:authority:)`` and ``FleetCertificateError/unmade(_:)``.
    package func sign(
        _ request: CertificateRequest,
        for purpose: CertificatePurpose,
        validity: Duration,
        serial: CertificateSerial,
        now: TrustTime
    ) throws(FleetCertificateError) -> FleetCertificate {
        let isHub = request.name == FleetCertificate.hub
        if isHub, purpose != .hub { throw .request(.hub) }
        if !isHub, purpose == .hub { throw .request(.notHub(request.name)) }
        let ends = now.advanced(by: validity)
        guard validity <= Self.longest, ends <= certificate.life.ends else {
            throw .tooLong(until: ends, authority: certificate.life.ends)
        }
        var names: [GeneralName] = []
        if case .broker(let texts) = purpose { for text in texts { names.append(try Self.general(text)) } }
        do {
            let body = DERBytes.sequence(
                DERBytes.tagged(0, DERBytes.integer(2)),
                DERBytes.integer(serial.bytes),
                try DERBytes.algorithm,
                try subject,
                DERBytes.sequence(DERBytes.time(now.advanced(by: Self.tolerance)), DERBytes.time(ends)),
                try DERBytes.value(try DistinguishedName { CommonName(request.name) }),
                try DERBytes.value(request.publicKey),
                DERBytes.tagged(3, try DERBytes.extensions(try extensions(of: request, names)))
            )
            return try FleetCertificate(der: try DERBytes.signed(body, by: key))
        } catch {
            throw .unmade((error as? UnusableCertificate)?.why ?? error.plainText)
        }
    }

    private func extensions(
        of request: CertificateRequest,
        _ names: [GeneralName]
    ) throws -> [Certificate.Extension] {
        var extensions = [
            try Certificate.Extension(BasicConstraints.notCertificateAuthority, critical: true),
            try Certificate.Extension(KeyUsage(digitalSignature: true), critical: true),
            try Certificate.Extension(
                try ExtendedKeyUsage([names.isEmpty ? ExtendedKeyUsage.Usage.clientAuth : .serverAuth]),
                critical: false
            ),
            try Certificate.Extension(SubjectKeyIdentifier(hash: request.publicKey), critical: false),
            try keyIdentifier,
        ]
        if !names.isEmpty {
            extensions.append(try Certificate.Extension(SubjectAlternativeNames(names), critical: false))
        }
        return extensions
    }

    private static func general(_ text: String) throws(FleetCertificateError) -> GeneralName {
        if let address = WireAddress(text) { return .ipAddress(ASN1OctetString(contentBytes: address.bytes[...])) }
        guard HostName.isValid(text) else {
            throw .name(text, rule: "a host's name or address, such as broker.example.org or 192.0.2.1")
        }
        return .dnsName(HostName.encoded(text))
    }
}
