import LinuxSupport
package import ServerTrust

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
