import Crypto
import LinuxSupport
import ReachabilityLedger
package import ServerTrust
import X509

/// The certificate of a machine, and a pending request for it, in a directory.
///
/// | File | Content |
/// |---|---|
/// | `NAME.pem` | The certificate in use and its private key, in one file, so that they always match. |
/// | `NAME.key` | The private key of the pending request. It never leaves the machine. |
/// | `NAME.csr` | The pending request. |
///
/// Each file is replaced atomically. A renewal does not touch the certificate in use until it ends with one rename.
package struct Enrollment: Sendable {
    package let directory: String
    package let name: String

    package var pairFile: String { "\(directory)/\(name).pem" }
    package var keyFile: String { "\(directory)/\(name).key" }
    package var requestFile: String { "\(directory)/\(name).csr" }

    /// Opens the directory of a machine.
    ///
    /// - Parameters:
    ///   - directory: The directory. It is created with mode 0700 if it does not exist. Other users may read it, but
    ///     not write to it.
    ///   - name: The name of the machine, as in topics.
    /// - Throws: ``FleetCertificateError``.
    package init(directory: String, name: String) throws(FleetCertificateError) {
        guard FleetName.isValid(name) else { throw .name(name, rule: FleetName.rule) }
        (self.directory, self.name) = (directory, name)
        try FleetFile.makeDirectory(directory)
        try FleetFile.requirePrivate(directory, mask: 0o022)
    }

    /// Creates a key and a certificate request. If a request is pending, it is written again with the same key.
    ///
    /// - Parameter force: Whether to create a request although a certificate is in use, always with a new key. The
    ///   certificate in use is not changed.
    /// - Throws: ``FleetCertificateError/exists(path:advice:)`` if a certificate is in use, or the error of a file.
    package func request(force: Bool) throws(FleetCertificateError) {
        guard force || !FileName.isTaken(pairFile) else {
            throw .exists(path: pairFile, advice: "renew it with --renew, or create another request with --force")
        }
        try makeRequest(force: force)
    }

    /// Creates a new key and a certificate request if two thirds of the certificate's validity have passed.
    ///
    /// - Parameter force: Whether to create the request now, with another key than that of a pending request.
    /// - Returns: The validity of the certificate in use, if it is too early for a renewal.
    /// - Throws: ``FleetCertificateError``.
    package func renew(force: Bool, now: TrustTime) throws(FleetCertificateError) -> CertificateLife? {
        let found = try FleetFile.certificates(pairFile, advice: "create a new request with --force, without --renew")
        let life = CertificateLife(begins: found[0].notBefore, ends: found[0].notAfter)
        guard force || life.isDue(at: now) else { return life }
        try makeRequest(force: force)
        return nil
    }

    private func makeRequest(force: Bool) throws(FleetCertificateError) {
        let key: Certificate.PrivateKey
        if FileName.isTaken(keyFile), !force {
            key = try pendingKey()
        } else {
            key = Certificate.PrivateKey(P256.Signing.PrivateKey())
            try FleetFile.write(
                keyFile,
                try key.text,
                ifNew: force ? nil : "another process creates a request; try again"
            )
        }
        try FleetFile.write(requestFile, try CertificateRequest.text(name: name, key: key), mode: 0o644)
    }

    /// Returns the key of the pending request.
    func pendingKey() throws(FleetCertificateError) -> Certificate.PrivateKey {
        guard let key = Certificate.PrivateKey(in: try FleetFile.read(keyFile)) else {
            throw .key(path: keyFile, advice: "create another with --force")
        }
        return key
    }
}

extension Enrollment {
    /// Puts a new certificate and its key into use.
    ///
    /// Both are in one file, which replaces the old one with one rename(2). After a kill or a power failure the file
    /// contains either the old pair or the new pair. The files of the request are removed afterwards. A repeated call
    /// has the same result.
    ///
    /// - Parameters:
    ///   - path: The PEM file of the certificate, followed by its intermediate certificates.
    ///   - authority: The file of the authority that must have signed it. If nil, `authority.pem` in the directory.
    /// - Returns: The certificate that is now in use.
    /// - Throws: ``FleetCertificateError/certificate(path:why:advice:)`` if the certificate is not for this machine or
    ///   this key, is not from this authority, or is not valid now; or the error of a file.
    package func install(
        _ path: String,
        authority: String?,
        now: TrustTime
    ) throws(FleetCertificateError) -> FleetCertificate {
        let advice = "request a certificate for \(requestFile.printable) from the authority"
        let chain = try FleetFile.certificates(path, advice: advice)
        let certificate = try AuthorityDirectory.certificate(path, advice: advice)
        func refuse(_ why: String, _ other: String? = nil) -> FleetCertificateError {
            .certificate(path: path, why: why, advice: other ?? advice)
        }
        guard certificate.name == name else {
            throw refuse("it is for the name \"\(certificate.name.shown)\", not for \(name)")
        }
        guard let key = try self.key(of: certificate) else {
            throw refuse("it is not for the key in \(keyFile.printable)")
        }
        let file = authority ?? "\(directory)/authority.pem"
        guard authority != nil || FileName.isTaken(file) else {
            throw refuse(
                "the trusted authority is not set",
                "pass the authority's certificate with --authority, or copy it to \(file)"
            )
        }
        guard
            Self.isIssued(chain, by: try FleetFile.certificates(file, advice: "set --authority to its certificate"))
        else { throw refuse("it is not signed by an authority in \(file.printable)") }
        guard certificate.life.begins <= now else {
            throw refuse("it is valid from \(certificate.life.begins)", "check the clock, which is at \(now)")
        }
        guard now <= certificate.life.ends else { throw refuse("\(certificate.life.text(at: now))") }
        let texts = chain.map { PEMText.bytes(FleetCertificate.type, $0.derRepresentation) } + [key]
        try FleetFile.write(pairFile, texts.flatMap(\.self))
        OwnFile.remove(keyFile)
        OwnFile.remove(requestFile)
        return certificate
    }

    /// Returns the PEM text of the private key of a certificate: the key of the pending request, or the key in use.
    private func key(of certificate: FleetCertificate) throws(FleetCertificateError) -> [UInt8]? {
        for path in [keyFile, pairFile] where FileName.isTaken(path) {
            guard let key = Certificate.PrivateKey(in: try FleetFile.read(path)),
                key.publicKey == certificate.certificate.x509.publicKey
            else { continue }
            return try key.text
        }
        return nil
    }

    /// True if each certificate is signed by the next one in the chain, and one of them by an authority.
    private static func isIssued(
        _ chain: [TrustCertificate],
        by authorities: [TrustCertificate]
    ) -> Bool {
        for (index, certificate) in chain.enumerated() {
            if authorities.contains(where: { FleetCertificate.isIssued(certificate, by: $0) }) { return true }
            guard index + 1 < chain.count, FleetCertificate.isIssued(certificate, by: chain[index + 1]) else {
                return false
            }
        }
        return false
    }
}

/// Functions for files with certificates and keys. A file is replaced atomically.
enum FleetFile {
    /// The maximum size of a file, in bytes.
    static let limit = 1 << 20

    static func read(_ path: String, limit: Int = limit) throws(FleetCertificateError) -> [UInt8] {
        do { return try InputFile.read(path, limit: limit) } catch { throw .unreadable(path: path, error) }
    }

    /// Writes a file, and returns when it is on disk.
    ///
    /// - Parameter advice: The hint of the error if the file exists. If nil, an existing file is replaced.
    static func write(
        _ path: String,
        _ bytes: [UInt8],
        mode: UInt32 = 0o600,
        ifNew advice: String? = nil
    ) throws(FleetCertificateError) {
        let fresh = path + ".new"
        do throws(SystemError) {
            // The file may be left over from a process that was killed.
            let file = try OutputFile(fresh, replacing: true)
            try file.append(bytes)
            if mode != 0o600 { try OwnFile.setMode(fresh, mode) }
            try file.sync()
            try FileName.move(fresh, to: path, replacing: advice == nil)
            try FileName.syncDirectory(of: path)
        } catch {
            OwnFile.remove(fresh)
            if error == .fileExists, let advice { throw .exists(path: path, advice: advice) }
            throw .unwritable(path: path, error)
        }
    }

    /// Creates a directory with mode 0700 if it does not exist.
    static func makeDirectory(_ path: String) throws(FleetCertificateError) {
        do { try OwnDirectory.make(path, mode: 0o700) } catch { throw .unwritable(path: path, error) }
    }

    /// Throws an error unless the path exists and its mode has no bit of `mask`.
    static func requirePrivate(_ path: String, mask: UInt32) throws(FleetCertificateError) {
        let mode: UInt32
        do { mode = try OwnFile.mode(path) } catch { throw .unreadable(path: path, error) }
        guard mode & mask == 0 else { throw .openToOthers(path: path, mode: mode) }
    }

    /// Returns the certificates of a PEM file, at least one.
    ///
    /// - Parameter advice: The hint of the error if there is no valid certificate.
    static func certificates(
        _ path: String,
        advice: String
    ) throws(FleetCertificateError) -> [TrustCertificate] {
        var found: [TrustCertificate] = []
        for block in PEMBlocks.documents(in: try read(path), type: FleetCertificate.type) {
            guard let block else {
                throw .certificate(path: path, why: "its PEM cannot be decoded", advice: advice)
            }
            do { found.append(try TrustCertificate(derEncoded: block)) } catch {
                throw .certificate(path: path, why: error.description, advice: advice)
            }
        }
        guard !found.isEmpty else {
            throw .certificate(path: path, why: "it contains no PEM block `CERTIFICATE`", advice: advice)
        }
        return found
    }
}
