import LinuxSupport
import ReachabilityLedger
package import ServerTrust
import X509

/// A certificate authority in a directory of plain files. Only the owner may read the directory.
///
/// | File | Content |
/// |---|---|
/// | `authority.key` | The private key that signs all certificates. |
/// | `authority.pem` | The public certificate of the authority. |
/// | `issued/NAME.SERIAL.pem` | A copy of each issued certificate. |
/// | `revoked` | The revoked certificates: one line each, with serial number, time and name. |
/// | `revoked.pem` | The same as a signed certificate revocation list (CRL), for brokers. |
/// | `lock` | A lock file, held during a change. |
///
/// Each file is replaced atomically. Keys of machines are not stored.
package struct AuthorityDirectory: Sendable {
    package let path: String
    let authority: FleetAuthority

    var keyFile: String { path + "/authority.key" }
    var issuedDirectory: String { path + "/issued" }
    var revokedFile: String { path + "/revoked" }

    /// The file of the authority's certificate, for brokers and machines.
    package var certificateFile: String { path + "/authority.pem" }
    /// The file of the certificate revocation list, for brokers.
    package var listFile: String { path + "/revoked.pem" }
    package var certificate: FleetCertificate { authority.certificate }

    /// Opens an existing authority.
    ///
    /// - Throws: ``FleetCertificateError``, also if other users have access to the directory.
    package init(_ path: String) throws(FleetCertificateError) {
        self.path = path
        let key = path + "/authority.key"
        guard FileName.isTaken(key) else { throw .noAuthority(path: path) }
        try FleetFile.requirePrivate(path, mask: 0o077)
        let found = try FleetFile.certificates(path + "/authority.pem", advice: "restore it from a backup")
        do throws(UnusableCertificate) {
            authority = try FleetAuthority(certificate: found[0], key: try Self.keyText(key))
        } catch {
            throw .brokenAuthority(path: key, why: error.why)
        }
    }

    /// Creates an authority.
    ///
    /// - Parameters:
    ///   - path: The directory. It is created if it does not exist.
    ///   - validity: The validity of the authority's certificate.
    /// - Throws: ``FleetCertificateError``. An existing authority is not changed.
    package static func make(
        _ path: String,
        name: String,
        validity: Duration,
        now: TrustTime
    ) throws(FleetCertificateError) -> AuthorityDirectory {
        try FleetFile.makeDirectory(path)
        try FleetFile.requirePrivate(path, mask: 0o077)
        return try withLock(in: path) { () throws(FleetCertificateError) in
            let key = path + "/authority.key"
            let advice = "a directory holds one authority"
            guard !FileName.isTaken(key) else { throw .exists(path: key, advice: advice) }
            let serial = CertificateSerial()
            let authority = try FleetAuthority.make(name: name, validity: validity, serial: serial, now: now)
            try FleetFile.makeDirectory(path + "/issued")
            try FleetFile.write(path + "/authority.pem", authority.certificate.pem, mode: 0o644)
            let list = try authority.list(of: [], now: now)
            try FleetFile.write(path + "/revoked.pem", PEMText.bytes("X509 CRL", list), mode: 0o644)
            // The key is written last. Without it there is no authority, and a second call writes the other files
            // again.
            try FleetFile.write(key, try authority.key.text, ifNew: advice)
            return try AuthorityDirectory(path)
        }
    }

    /// Runs a function while no other process changes the directory.
    static func withLock<Value>(
        in path: String,
        _ body: () throws(FleetCertificateError) -> Value
    ) throws(FleetCertificateError) -> Value {
        let lock: LockFile
        do {
            lock = try LockFile(path + "/lock")
        } catch .tryAgain {
            throw .busy(path: path)
        } catch {
            throw .unwritable(path: path + "/lock", error)
        }
        let value = try body()
        _ = consume lock
        return value
    }

    private static func keyText(_ path: String) throws(UnusableCertificate) -> [UInt8] {
        do { return try FleetFile.read(path) } catch { throw UnusableCertificate(why: error.description) }
    }
}

/// A certificate that an authority has issued, with its revocation.
package struct IssuedCertificate: Hashable, Sendable {
    package let certificate: FleetCertificate
    /// The time of the revocation; nil if the certificate is not revoked.
    package let revokedSince: TrustTime?
}

extension AuthorityDirectory {
    private static let ending = ".pem"

    /// Signs a request, and keeps a copy of the certificate. The copy is on disk before the function returns, so every
    /// certificate in use can be revoked.
    ///
    /// - Throws: ``FleetCertificateError`` of ``FleetAuthority/sign(_:for:validity:serial:now:)``, or of a file.
    package func sign(
        _ request: CertificateRequest,
        for purpose: CertificatePurpose,
        validity: Duration,
        now: TrustTime
    ) throws(FleetCertificateError) -> FleetCertificate {
        try Self.withLock(in: path) { () throws(FleetCertificateError) in
            let serial = CertificateSerial()
            let certificate = try authority.sign(request, for: purpose, validity: validity, serial: serial, now: now)
            try FleetFile.makeDirectory(issuedDirectory)
            let file = "\(issuedDirectory)/\(certificate.name).\(serial)\(Self.ending)"
            try FleetFile.write(file, certificate.pem, ifNew: "the serial number is already used; try again")
            return certificate
        }
    }

    /// Returns all issued certificates, sorted by name, and by age for each name.
    ///
    /// - Throws: ``FleetCertificateError`` if a file cannot be read or is damaged.
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
        // Files without this ending are left over from a process that was killed.
        for name in names where name.hasSuffix(Self.ending) {
            let certificate = try Self.certificate(
                "\(issuedDirectory)/\(name)",
                advice: "remove files that do not belong to the authority"
            )
            found.append(IssuedCertificate(certificate: certificate, revokedSince: since[certificate.serial]))
        }
        return found.sorted { one, other in
            (one.certificate.name, one.certificate.life.begins) < (
                other.certificate.name, other.certificate.life.begins
            )
        }
    }

    /// Returns the first certificate of a file.
    static func certificate(_ path: String, advice: String) throws(FleetCertificateError) -> FleetCertificate {
        let found = try FleetFile.certificates(path, advice: advice)
        do throws(UnusableCertificate) { return try FleetCertificate(found[0]) } catch {
            throw .certificate(path: path, why: error.why, advice: advice)
        }
    }
}

extension AuthorityDirectory {
    /// Revokes certificates, and signs the certificate revocation list.
    ///
    /// The source of the list is written first. If the process is killed in between, a repeated call signs the list.
    ///
    /// - Parameter word: A name, for all certificates issued to it; otherwise a serial number; otherwise the path of a
    ///   certificate of this authority.
    /// - Returns: The certificates that were not revoked before.
    /// - Throws: ``FleetCertificateError/notIssued(_:)``, or the error of a file.
    package func revoke(_ word: String, now: TrustTime) throws(FleetCertificateError) -> [RevokedCertificate] {
        try Self.withLock(in: path) { () throws(FleetCertificateError) in
            let certificates = try certificates(by: word)
            var revoked = try self.revoked()
            let known = Set(revoked.map(\.serial))
            let fresh = certificates.filter { !known.contains($0.serial) }.map { certificate in
                let name = FleetName.isValid(certificate.name) ? certificate.name : "-"
                return RevokedCertificate(serial: certificate.serial, since: now, name: name)
            }
            revoked += fresh
            let text = revoked.map { "\($0.serial) \($0.since) \($0.name)\n" }.joined()
            try FleetFile.write(revokedFile, Array(text.utf8))
            let list = try authority.list(of: revoked, now: now)
            try FleetFile.write(listFile, PEMText.bytes("X509 CRL", list), mode: 0o644)
            return fresh
        }
    }

    private func certificates(by word: String) throws(FleetCertificateError) -> [FleetCertificate] {
        let issued = try self.issued().map(\.certificate)
        let named = issued.filter { $0.name == word }
        if !named.isEmpty { return named }
        if let serial = CertificateSerial(word), let one = issued.first(where: { $0.serial == serial }) { return [one] }
        guard FileName.isTaken(word) else { throw .notIssued(word) }
        let advice = "pass a certificate of this authority"
        let certificate = try Self.certificate(word, advice: advice)
        guard certificate.isIssued(by: authority.certificate.certificate) else {
            throw .certificate(path: word, why: "it is signed by another authority", advice: advice)
        }
        return [certificate]
    }

    /// Returns the revoked certificates in the order of revocation. An unreadable line is an error, because the broker
    /// would accept its certificate.
    func revoked() throws(FleetCertificateError) -> [RevokedCertificate] {
        guard FileName.isTaken(revokedFile) else { return [] }
        var found: [RevokedCertificate] = []
        let text = String(decoding: try FleetFile.read(revokedFile, limit: 64 << 20), as: UTF8.self)
        for line in text.split(at: "\n") {
            let words = line.split(at: " ").map(String.init)
            guard words.count == 3, let serial = CertificateSerial(words[0]), let since = TrustTime(words[1]) else {
                throw .brokenAuthority(
                    path: revokedFile,
                    why: "a line is not a serial number, a time and a name"
                )
            }
            found.append(RevokedCertificate(serial: serial, since: since, name: words[2]))
        }
        return found
    }
}
