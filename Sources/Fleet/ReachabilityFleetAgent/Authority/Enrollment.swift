import Crypto
import LinuxSupport
package import ServerTrust
import X509

/// What a machine has of its certificate, in a directory:
///
///     NAME.pem      certificate and key that are in use, in one file: who reads it has both of one pair
///     NAME.key      the key of the request that is on its way; it never leaves the machine
///     NAME.csr      that request
///
/// Each file is always whole. A renewal writes beside what is in use, and ends with one rename.
package struct Enrollment: Sendable {
    package let directory: String
    package let name: String

    package var pairFile: String { "\(directory)/\(name).pem" }
    package var keyFile: String { "\(directory)/\(name).key" }
    package var requestFile: String { "\(directory)/\(name).csr" }

    /// - Parameters:
    ///   - directory: Made where it is not there, with mode 0700. Others may look into it, but not write.
    ///   - name: What the machine is called, as in topics.
    /// - Throws: ``FleetCertificateError``.
    package init(directory: String, name: String) throws(FleetCertificateError) {
        guard CertificateRequest.isName(name) else { throw .name(name, rule: CertificateRequest.nameRule) }
        (self.directory, self.name) = (directory, name)
        try FleetFile.makeDirectory(directory)
        try FleetFile.requirePrivate(directory, mask: 0o022)
    }

    /// Makes a key and a request with it. Where a request is on its way already, it is written again with the same key.
    ///
    /// - Parameter force: Whether to do so where a certificate is in use, and with another key in any case. What is in use stays.
    /// - Throws: ``FleetCertificateError/exists(path:advice:)`` where a certificate is in use, and what is wrong with files.
    package func request(force: Bool) throws(FleetCertificateError) {
        guard force || !FileName.isTaken(pairFile) else {
            throw .exists(path: pairFile, advice: "renew it with --renew, or make another request with --force")
        }
        try makeRequest(force: force)
    }

    /// Makes a new key and a request when two thirds of the certificate's life are over.
    ///
    /// - Parameter force: Whether to do so now, and with another key than that of a request on its way.
    /// - Returns: The life of what is in use, if it is too early.
    /// - Throws: ``FleetCertificateError``.
    package func renew(force: Bool, now: TrustTime) throws(FleetCertificateError) -> CertificateLife? {
        let found = try FleetFile.certificates(pairFile, advice: "begin anew with --force, without --renew")
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
                ifNew: force ? nil : "another process makes a request: try again"
            )
        }
        try FleetFile.write(requestFile, try CertificateRequest.text(name: name, key: key), mode: 0o644)
    }

    /// The key of the request on its way.
    func pendingKey() throws(FleetCertificateError) -> Certificate.PrivateKey {
        guard let key = Certificate.PrivateKey(in: try FleetFile.read(keyFile)) else {
            throw .key(path: keyFile, advice: "make another with --force")
        }
        return key
    }
}

extension Enrollment {
    /// Puts a new certificate and its key into use.
    ///
    /// Both stand in one file, which is written beside the old one and takes its place with one rename(2): after a kill or a power cut there
    /// is the old pair or the new one. What is left of the request is removed after that. Called once more, it does the same again, or
    /// sees that it was done.
    ///
    /// - Parameters:
    ///   - path: The certificate in PEM, with those between it and its authority.
    ///   - authority: Who must have signed it; `authority.pem` in the directory otherwise.
    /// - Returns: What is in use now.
    /// - Throws: ``FleetCertificateError/certificate(path:why:advice:)`` where it is not of this machine, this key or this authority, or not
    ///   valid now, and what is wrong with files.
    package func install(
        _ path: String,
        authority: String?,
        now: TrustTime
    ) throws(FleetCertificateError) -> FleetCertificate {
        let advice = "ask the authority for one that is made from \(requestFile.printable)"
        let chain = try FleetFile.certificates(path, advice: advice)
        let certificate = try AuthorityDirectory.certificate(path, advice: advice)
        func refuse(_ why: String, _ other: String? = nil) -> FleetCertificateError {
            .certificate(path: path, why: why, advice: other ?? advice)
        }
        guard certificate.name == name else {
            throw refuse("it is for \"\(certificate.name.shown)\", and this is \(name)")
        }
        guard let key = try self.key(of: certificate) else {
            throw refuse("it is not for the key in \(keyFile.printable)")
        }
        let file = authority ?? "\(directory)/authority.pem"
        guard authority != nil || FileName.isTaken(file) else {
            throw refuse(
                "nobody says who may sign it",
                "name the authority's certificate with --authority, or put it at \(file)"
            )
        }
        guard
            Self.isIssued(chain, by: try FleetFile.certificates(file, advice: "name the authority's with --authority"))
        else { throw refuse("nobody in \(file.printable) has signed it") }
        guard certificate.life.begins <= now else {
            throw refuse("it is valid from \(certificate.life.begins) on", "see that the clock is right: it is \(now)")
        }
        guard now <= certificate.life.ends else { throw refuse("it is \(certificate.life.text(at: now))") }
        let texts = chain.map { PEMText.bytes(FleetCertificate.type, $0.derRepresentation) } + [key]
        try FleetFile.write(pairFile, texts.flatMap(\.self))
        OwnFile.remove(keyFile)
        OwnFile.remove(requestFile)
        return certificate
    }

    /// The text of the key that belongs to a certificate: that of the request, or the one that is in use with it already.
    private func key(of certificate: FleetCertificate) throws(FleetCertificateError) -> [UInt8]? {
        for path in [keyFile, pairFile] where FileName.isTaken(path) {
            guard let key = Certificate.PrivateKey(in: try FleetFile.read(path)),
                key.publicKey == certificate.certificate.x509.publicKey
            else { continue }
            return try key.text
        }
        return nil
    }

    /// Whether each has signed the one before it, and an authority the last.
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

/// Files with certificates and keys: each is always whole, the old one or the new one.
enum FleetFile {
    /// The most bytes of one: certificates with all that may stand between them.
    static let limit = 1 << 20

    static func read(_ path: String, limit: Int = limit) throws(FleetCertificateError) -> [UInt8] {
        do { return try InputFile.read(path, limit: limit) } catch { throw .unreadable(path: path, error) }
    }

    /// Writes a file, which is on the disk when this returns.
    ///
    /// - Parameter advice: What to do where it is there already; nil where it is to be replaced.
    static func write(
        _ path: String,
        _ bytes: [UInt8],
        mode: UInt32 = 0o600,
        ifNew advice: String? = nil
    ) throws(FleetCertificateError) {
        let fresh = path + ".new"
        do throws(SystemError) {
            // It may lie there since a kill.
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

    /// Makes a directory for its owner alone, where there is none.
    static func makeDirectory(_ path: String) throws(FleetCertificateError) {
        do { try OwnDirectory.make(path, mode: 0o700) } catch { throw .unwritable(path: path, error) }
    }

    /// Throws unless a directory is there, and others may do nothing in it of what `mask` has.
    static func requirePrivate(_ path: String, mask: UInt32) throws(FleetCertificateError) {
        let mode: UInt32
        do { mode = try OwnFile.mode(path) } catch { throw .unreadable(path: path, error) }
        guard mode & mask == 0 else { throw .openToOthers(path: path, mode: mode) }
    }

    /// The certificates of a file in PEM, at least one.
    ///
    /// - Parameter advice: What to do where there is none.
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
            throw .certificate(path: path, why: "there is no `CERTIFICATE` in PEM in it", advice: advice)
        }
        return found
    }
}
