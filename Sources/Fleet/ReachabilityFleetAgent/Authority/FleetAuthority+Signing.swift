import LinuxSupport
package import ServerTrust
import SwiftASN1
import X509

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
