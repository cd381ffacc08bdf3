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
