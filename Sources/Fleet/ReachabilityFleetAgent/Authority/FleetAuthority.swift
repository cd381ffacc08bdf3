import Crypto
package import LinuxSupport
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

/// Why a certificate, a list or a request was not made, or not taken: what was tried, what is wrong, and what to do.
package enum FleetCertificateError: Error, Hashable, Sendable {
    /// A file cannot be read.
    case unreadable(path: String, SystemError)
    /// A file cannot be written.
    case unwritable(path: String, SystemError)
    /// What would be written is there already.
    case exists(path: String, advice: String)
    /// A directory that has keys is open to others.
    case openToOthers(path: String, mode: UInt32)
    /// There is no authority in a directory.
    case noAuthority(path: String)
    /// An authority's file is not what it must be.
    case brokenAuthority(path: String, why: String)
    /// Another process works in the directory.
    case busy(path: String)
    /// A request that is not signed.
    case request(RequestFault)
    /// A file is no certificate that can be used here.
    case certificate(path: String, why: String, advice: String)
    /// A file is no key that can be used here.
    case key(path: String, advice: String)
    /// Nothing of that name, number or file was issued.
    case notIssued(String)
    /// What stands for a name is none.
    case name(String, rule: String)
    /// It would be valid for longer than its authority is, or than can be written.
    case tooLong(until: TrustTime, authority: TrustTime)
    /// What is made cannot be encoded or signed, as the library says.
    case unmade(String)
}

/// Why a request is not signed.
package enum RequestFault: Error, Hashable, Sendable {
    case tooLarge(limit: Int)
    /// It has none, or more than one, in PEM.
    case count(Int)
    /// It is none that can be read, as the library says; also one with a key or a signature that is too weak.
    case unreadable(String)
    /// Who made it does not have its key.
    case signature
    /// It has none, or more than one.
    case names(Int)
    case name(String)
    /// The hub's name without the permission to be it.
    case hub
    /// The permission to be the hub, with another name.
    case notHub(String)
}

extension FleetCertificateError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unreadable(let path, let error): "cannot read \(path.printable): \(error)"
        case .unwritable(let path, let error): "cannot write \(path.printable): \(error)"
        case .exists(let path, let advice): "\(path.printable) is there already: \(advice)"
        case .openToOthers(let path, let mode):
            "\(path.printable) is open to others (mode \(String(mode, radix: 8))), and has or gets keys: "
                + "`chmod go= \(path.printable)`"
        case .noAuthority(let path):
            "there is no authority in \(path.printable): make one with `reachability fleet ca init`"
        case .brokenAuthority(let path, let why):
            "\(path.printable) cannot be used: \(why): take it from a copy of the directory"
        case .busy(let path): "another `reachability fleet ca` works in \(path.printable): try again"
        case .request(let fault): "the request is not signed: \(fault)"
        case .certificate(let path, let why, let advice): "\(path.printable) is not taken: \(why): \(advice)"
        case .key(let path, let advice): "\(path.printable) is no key that can be used: \(advice)"
        case .notIssued(let text):
            "nothing was issued to \"\(text.printable)\", and it is no serial number or certificate of this authority: "
                + "`reachability fleet ca list` shows those there are"
        case .name(let text, let rule): "\"\(text.printable)\" is no name: take \(rule)"
        case .tooLong(let until, let authority):
            "it would be valid until \(until), and its authority ends at \(authority): ask for less, or make a new authority"
        case .unmade(let text): "it cannot be made: \(text.printable)"
        }
    }
}

extension RequestFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooLarge(let limit): "it has more than \(limit / 1024) KiB, which is no request"
        case .count(let count):
            "\(count == 0 ? "there is none" : "there are \(count)") in it: give one `CERTIFICATE REQUEST` in PEM, "
                + "as `reachability fleet enroll` makes it"
        case .unreadable(let text):
            "\(text.shown): keys are on P-256, P-384, P-521 or Ed25519, or RSA with 2048 bits or more; "
                + "`reachability fleet enroll` makes one"
        case .signature: "its signature is not good, so whoever sent it does not have its key"
        case .names(0): "there is no common name in it"
        case .names(let count): "there are \(count) common names in it, and one machine has one"
        case .name(let text): "\"\(text.shown)\" is no name of a machine: \(CertificateRequest.nameRule)"
        case .hub: "\"hub\" hears every machine and may ask it: with --hub, if it is the hub's"
        case .notHub(let name): "it is for \"\(name.shown)\", and --hub is for the name \"hub\""
        }
    }
}
