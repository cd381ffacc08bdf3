import LinuxSupport
package import ServerTrust

/// A certificate that an authority has issued, and what has become of it.
package struct IssuedCertificate: Hashable, Sendable {
    package let certificate: FleetCertificate
    /// Since when it counts no more; nil while it does.
    package let revokedSince: TrustTime?
}

extension AuthorityDirectory {
    private static let ending = ".pem"

    /// Signs what has been asked for, and keeps a copy. The copy is on the disk before anybody has the certificate, so that each one there
    /// is can be revoked.
    ///
    /// - Throws: ``FleetCertificateError``, as ``FleetAuthority/sign(_:for:validity:serial:now:)`` and for files.
    package func sign(
        _ request: CertificateRequest,
        for purpose: CertificatePurpose,
        validity: Duration,
        now: TrustTime
    ) throws(FleetCertificateError) -> FleetCertificate {
        try Self.alone(in: path) { () throws(FleetCertificateError) in
            let serial = CertificateSerial()
            let certificate = try authority.sign(request, for: purpose, validity: validity, serial: serial, now: now)
            try FleetFile.makeDirectory(issuedDirectory)
            let file = "\(issuedDirectory)/\(certificate.name).\(serial)\(Self.ending)"
            try FleetFile.write(file, certificate.pem, ifNew: "the number has been used: try again")
            return certificate
        }
    }

    /// All that was ever issued, by name, the oldest of each name first.
    ///
    /// - Throws: ``FleetCertificateError`` where a file cannot be read, or is not what it must be.
    package func issued() throws(FleetCertificateError) -> [IssuedCertificate] {
        let revoked = try self.revoked()
        let since = Dictionary(revoked.map { ($0.serial, $0.since) }) { first, _ in first }
        let names: [String]
        do {
            names = try DirectoryListing.files(in: issuedDirectory)
        } catch .noEntry {
            return []
        } catch {
            throw .unreadable(path: issuedDirectory, error)
        }
        var found: [IssuedCertificate] = []
        // What a kill has left has another ending.
        for name in names where name.hasSuffix(Self.ending) {
            let certificate = try Self.certificate(
                "\(issuedDirectory)/\(name)",
                advice: "remove what is not of the authority"
            )
            found.append(IssuedCertificate(certificate: certificate, revokedSince: since[certificate.serial]))
        }
        return found.sorted { one, other in
            (one.certificate.name, one.certificate.life.begins) < (
                other.certificate.name, other.certificate.life.begins
            )
        }
    }

    /// The first certificate of a file.
    static func certificate(_ path: String, advice: String) throws(FleetCertificateError) -> FleetCertificate {
        let found = try FleetFile.certificates(path, advice: advice)
        do throws(UnusableCertificate) { return try FleetCertificate(found[0]) } catch {
            throw .certificate(path: path, why: error.why, advice: advice)
        }
    }
}
