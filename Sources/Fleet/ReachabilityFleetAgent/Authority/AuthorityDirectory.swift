import LinuxSupport
package import ServerTrust
import X509

/// An authority that is kept in a directory of plain files, for its owner's eyes only:
///
///     authority.key                the key, which signs for everybody
///     authority.pem                the certificate, for everybody
///     issued/NAME.SERIAL.pem       all that was ever issued
///     revoked                      what counts no more: a line for each, with serial number, time and name
///     revoked.pem                  the same, signed, for brokers
///     lock                         held while something changes
///
/// Each file is always whole. There are no keys of machines.
package struct AuthorityDirectory: Sendable {
    package let path: String
    let authority: FleetAuthority

    var keyFile: String { path + "/authority.key" }
    var issuedDirectory: String { path + "/issued" }
    var revokedFile: String { path + "/revoked" }

    /// The authority's certificate, for brokers and machines.
    package var certificateFile: String { path + "/authority.pem" }
    /// The list, for brokers.
    package var listFile: String { path + "/revoked.pem" }
    package var certificate: FleetCertificate { authority.certificate }

    /// Opens one that is there.
    ///
    /// - Throws: ``FleetCertificateError``, also where others may look into the directory.
    package init(_ path: String) throws(FleetCertificateError) {
        self.path = path
        let key = path + "/authority.key"
        guard FileName.isTaken(key) else { throw .noAuthority(path: path) }
        try FleetFile.requirePrivate(path, mask: 0o077)
        let found = try FleetFile.certificates(path + "/authority.pem", advice: "take it from a copy of the directory")
        do throws(UnusableCertificate) {
            authority = try FleetAuthority(certificate: found[0], key: try Self.keyText(key))
        } catch {
            throw .brokenAuthority(path: key, why: error.why)
        }
    }

    /// Makes a new one.
    ///
    /// - Parameters:
    ///   - path: The directory, which is made where it is not there.
    ///   - validity: How long the authority is valid.
    /// - Throws: ``FleetCertificateError``; what is an authority already stays as it is.
    package static func make(
        _ path: String,
        name: String,
        validity: Duration,
        now: TrustTime
    ) throws(FleetCertificateError) -> AuthorityDirectory {
        try FleetFile.makeDirectory(path)
        try FleetFile.requirePrivate(path, mask: 0o077)
        return try alone(in: path) { () throws(FleetCertificateError) in
            let key = path + "/authority.key"
            let advice = "one directory has one authority"
            guard !FileName.isTaken(key) else { throw .exists(path: key, advice: advice) }
            let serial = CertificateSerial()
            let authority = try FleetAuthority.make(name: name, validity: validity, serial: serial, now: now)
            try FleetFile.makeDirectory(path + "/issued")
            try FleetFile.write(path + "/authority.pem", authority.certificate.pem, mode: 0o644)
            let list = try authority.list(of: [], now: now)
            try FleetFile.write(path + "/revoked.pem", PEMText.bytes("X509 CRL", list), mode: 0o644)
            // The last: until it is there, there is no authority, and the rest is made anew.
            try FleetFile.write(key, try authority.key.text, ifNew: advice)
            return try AuthorityDirectory(path)
        }
    }

    /// Does something while no other process changes the directory.
    static func alone<Value>(
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

extension AuthorityDirectory {
    /// Takes back what somebody has, and signs the list of all that counts no more.
    ///
    /// The list's source is written first. After a kill between the two the same call signs the list.
    ///
    /// - Parameter word: A name, which stands for all certificates issued to it; else a serial number; else a file with a certificate of this
    ///   authority.
    /// - Returns: What counts no more from now on; none where all of that was revoked before.
    /// - Throws: ``FleetCertificateError/notIssued(_:)``, and what is wrong with files.
    package func revoke(_ word: String, now: TrustTime) throws(FleetCertificateError) -> [RevokedCertificate] {
        try Self.alone(in: path) { () throws(FleetCertificateError) in
            let certificates = try meant(by: word)
            var revoked = try self.revoked()
            let known = Set(revoked.map(\.serial))
            let fresh = certificates.filter { !known.contains($0.serial) }.map { certificate in
                let name = CertificateRequest.isName(certificate.name) ? certificate.name : "-"
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

    private func meant(by word: String) throws(FleetCertificateError) -> [FleetCertificate] {
        let issued = try self.issued().map(\.certificate)
        let named = issued.filter { $0.name == word }
        if !named.isEmpty { return named }
        if let serial = CertificateSerial(word), let one = issued.first(where: { $0.serial == serial }) { return [one] }
        guard FileName.isTaken(word) else { throw .notIssued(word) }
        let advice = "give a certificate of this authority"
        let certificate = try Self.certificate(word, advice: advice)
        guard certificate.isIssued(by: authority.certificate.certificate) else {
            throw .certificate(path: word, why: "another authority has signed it", advice: advice)
        }
        return [certificate]
    }

    /// What counts no more, in the order in which it was revoked. A line that cannot be read is an error: whose it was would be let in.
    func revoked() throws(FleetCertificateError) -> [RevokedCertificate] {
        guard FileName.isTaken(revokedFile) else { return [] }
        var found: [RevokedCertificate] = []
        let text = String(decoding: try FleetFile.read(revokedFile, limit: 64 << 20), as: UTF8.self)
        for line in text.split(at: "\n") {
            let words = line.split(at: " ").map(String.init)
            guard words.count == 3, let serial = CertificateSerial(words[0]), let since = TrustTime(words[1]) else {
                throw .brokenAuthority(
                    path: revokedFile,
                    why: "there is a line that is no serial number, time and name"
                )
            }
            found.append(RevokedCertificate(serial: serial, since: since, name: words[2]))
        }
        return found
    }
}
