import Crypto
package import LinuxSupport
import ReachabilityLedger
package import ServerTrust
import SwiftASN1
import X509

/// The certificate authority of a fleet: a self-signed certificate and its private key on P-256. A value without files
/// or a clock.
package struct FleetAuthority: Sendable {
    /// The maximum validity of a certificate: 100 years.
    static let longest = Duration.seconds(36_525 * 86_400)
    /// The offset of the start of validity from now. It is negative because the clocks of machines may be slow.
    static let tolerance = Duration.seconds(-3600)

    /// The certificate of the authority.
    package let certificate: FleetCertificate
    let key: Certificate.PrivateKey

    /// Creates an authority with a new key.
    ///
    /// - Parameters:
    ///   - name: The name of the authority, 1 to 64 printable characters. Two authorities must not have the same name,
    ///     because they are identified by it.
    ///   - validity: The validity of the authority's certificate.
    /// - Throws: ``FleetCertificateError/name(_:rule:)``, ``FleetCertificateError/tooLong(until:authority:)`` or
    ///   ``FleetCertificateError/encodingFailed(_:)``.
    package static func make(
        name: String,
        validity: Duration,
        serial: CertificateSerial,
        now: TrustTime
    ) throws(FleetCertificateError) -> FleetAuthority {
        guard (1...64).contains(name.unicodeScalars.count), name.printable == name else {
            throw .name(name, rule: "1 to 64 printable characters")
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
                        // The authority signs end-entity certificates, but no other authorities.
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
            throw .encodingFailed((error as? UnusableCertificate)?.why ?? error.plainText)
        }
    }

    private init(certificate: FleetCertificate, key: Certificate.PrivateKey) {
        (self.certificate, self.key) = (certificate, key)
    }

    /// Loads an existing authority, which may have been created with OpenSSL.
    ///
    /// - Throws: ``UnusableCertificate`` with the reason.
    init(certificate: TrustCertificate, key pem: [UInt8]) throws(UnusableCertificate) {
        guard let key = Certificate.PrivateKey(in: pem), P256.Signing.PublicKey(key.publicKey) != nil else {
            throw UnusableCertificate(why: "it is not a P-256 key in PEM without a passphrase")
        }
        self.key = key
        self.certificate = try FleetCertificate(certificate)
        guard certificate.x509.publicKey == self.key.publicKey else {
            throw UnusableCertificate(why: "it is not the key of the authority's certificate")
        }
        guard FleetCertificate.isIssued(certificate, by: certificate) else {
            throw UnusableCertificate(why: "the authority's certificate is not self-signed")
        }
    }

    /// The authority key identifier extension of the certificates and lists that the authority signs.
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

    /// The subject of the authority in DER, the issuer of everything that it signs.
    var subject: [UInt8] {
        get throws { try DERBytes.value(certificate.certificate.x509.subject) }
    }
}

/// An entry of the list of revoked certificates.
package struct RevokedCertificate: Hashable, Sendable {
    package let serial: CertificateSerial
    package let since: TrustTime
    /// The name in the certificate, for readers of the file `revoked`; `-` if it is not a valid machine name.
    package let name: String
}

extension FleetAuthority {
    // The extension CRL number (RFC 5280, 5.2.3).
    private static let number: ASN1ObjectIdentifier = [2, 5, 29, 20]

    /// Returns the certificate revocation list in DER (RFC 5280, 5).
    ///
    /// The field nextUpdate is the end of the authority's validity. A broker rejects every client after nextUpdate, and
    /// a fleet must not lose its connections because nothing was revoked for some time. The CRL number is the number of
    /// entries plus one, because entries are never removed.
    ///
    /// - Throws: ``FleetCertificateError/encodingFailed(_:)``.
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
                // An empty list omits the sequence of entries.
                entries.isEmpty ? [] : DERBytes.node(0x30, entries.flatMap(\.self)),
                DERBytes.tagged(0, try DERBytes.extensions([try keyIdentifier, number]))
            )
            return try DERBytes.signed(body, by: key)
        } catch {
            throw .encodingFailed(error.plainText)
        }
    }
}

/// The purpose of a certificate.
package enum CertificatePurpose: Hashable, Sendable {
    /// A machine, which authenticates to the broker.
    case device
    /// The hub, which may read the messages of all machines.
    case hub
    /// The broker. Clients connect to it by these host names and addresses.
    case broker([String])
}

extension FleetAuthority {
    /// Signs a request. Only the name and the key of the request are used.
    ///
    /// The certificate of a machine is for TLS clients only, and that of the broker for TLS servers only. A machine
    /// cannot impersonate the broker.
    ///
    /// - Parameter validity: The validity of the certificate from now.
    /// - Throws: ``FleetCertificateError/request(_:)`` if the name is that of the hub and the purpose is not, or the
    ///   reverse; ``FleetCertificateError/name(_:rule:)`` for an invalid host name of the broker;
    ///   ``FleetCertificateError/tooLong(until:authority:)`` and ``FleetCertificateError/encodingFailed(_:)``.
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
            throw .encodingFailed((error as? UnusableCertificate)?.why ?? error.plainText)
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
            throw .name(text, rule: "a host name or an address, such as broker.example.org or 192.0.2.1")
        }
        return .dnsName(HostName.encoded(text))
    }
}

/// An error while creating or checking a certificate, a list or a request. The description contains the action, the
/// reason and a hint.
package enum FleetCertificateError: Error, Hashable, Sendable {
    /// A file cannot be read.
    case unreadable(path: String, SystemError)
    /// A file cannot be written.
    case unwritable(path: String, SystemError)
    /// The file to write exists.
    case exists(path: String, advice: String)
    /// Other users have access to a directory with private keys.
    case openToOthers(path: String, mode: UInt32)
    /// A directory contains no authority.
    case noAuthority(path: String)
    /// A file of the authority is damaged.
    case brokenAuthority(path: String, why: String)
    /// Another process changes the directory.
    case busy(path: String)
    /// A request cannot be signed.
    case request(RequestFault)
    /// A file is not a certificate that can be used here.
    case certificate(path: String, why: String, advice: String)
    /// A file is not a private key that can be used here.
    case key(path: String, advice: String)
    /// The authority has issued no certificate with this name, serial number or file.
    case notIssued(String)
    /// A name is invalid.
    case name(String, rule: String)
    /// The certificate would be valid for longer than its authority, or than the maximum.
    case tooLong(until: TrustTime, authority: TrustTime)
    /// A certificate or a list cannot be encoded or signed. The text is the error of the library.
    case encodingFailed(String)
}

/// The reason why a request is not signed.
package enum RequestFault: Error, Hashable, Sendable {
    case tooLarge(limit: Int)
    /// The file contains no request, or more than one.
    case count(Int)
    /// The request cannot be decoded, or its key or signature is too weak. The text contains the reason.
    case unreadable(String)
    /// The signature does not match the key of the request.
    case signature
    /// The request has no common name, or more than one.
    case names(Int)
    case name(String)
    /// The name of the request is "hub", but a certificate for another purpose was ordered.
    case hub
    /// A certificate for the hub was ordered, but the name of the request is not "hub".
    case notHub(String)
}

extension FleetCertificateError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unreadable(let path, let error): "cannot read \(path.printable): \(error)"
        case .unwritable(let path, let error): "cannot write \(path.printable): \(error)"
        case .exists(let path, let advice): "cannot write \(path.printable): file exists; \(advice)"
        case .openToOthers(let path, let mode):
            "cannot use \(path.printable): other users have access (mode \(String(mode, radix: 8))); run "
                + "`chmod go= \(path.printable)`"
        case .noAuthority(let path):
            "cannot find an authority in \(path.printable); create one with `reachability fleet ca init`"
        case .brokenAuthority(let path, let why):
            "cannot use \(path.printable): \(why); restore it from a backup"
        case .busy(let path): "cannot lock \(path.printable): another `reachability fleet ca` is running; try again"
        case .request(let fault): "cannot sign the request: \(fault)"
        case .certificate(let path, let why, let advice): "cannot use \(path.printable): \(why); \(advice)"
        case .key(let path, let advice): "cannot use \(path.printable): not a valid private key; \(advice)"
        case .notIssued(let text):
            "cannot find \"\(text.printable)\": not the name, number or file of an issued certificate; "
                + "`reachability fleet ca list` prints all"
        case .name(let text, let rule): "invalid name \"\(text.printable)\"; use \(rule)"
        case .tooLong(let until, let authority):
            "cannot sign until \(until): the limit is \(authority); use a shorter validity, or create a new authority"
        case .encodingFailed(let text): "cannot create the certificate: \(text.printable)"
        }
    }
}

extension RequestFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooLarge(let limit): "it is larger than \(limit / 1024) KiB"
        case .count(let count):
            "it contains \(count == 0 ? "no request" : "\(count) requests"); pass one PEM block `CERTIFICATE REQUEST`, "
                + "as written by `reachability fleet enroll`"
        case .unreadable(let text):
            "\(text.shown); valid keys are P-256, P-384, P-521, Ed25519, and RSA of at least 2048 bits; "
                + "`reachability fleet enroll` creates one"
        case .signature: "its signature does not match its key"
        case .names(0): "it has no common name"
        case .names(let count): "it has \(count) common names; a machine has one"
        case .name(let text): "invalid machine name \"\(text.shown)\"; use \(FleetName.rule)"
        case .hub: "the name \"hub\" may read and command every machine; pass --hub if the request is from the hub"
        case .notHub(let name): "it is for \"\(name.shown)\", but --hub requires the name \"hub\""
        }
    }
}
