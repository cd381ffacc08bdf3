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
