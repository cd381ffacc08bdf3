import LinuxSupport

/// Where Linux distributions keep the roots they trust, and what is there.
///
/// | Distribution | File |
/// |---|---|
/// | Debian, Ubuntu, Alpine, Arch | `/etc/ssl/certs/ca-certificates.crt` |
/// | Fedora, RHEL | `/etc/pki/tls/certs/ca-bundle.crt`, `/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem` |
/// | openSUSE | `/etc/ssl/ca-bundle.pem` |
/// | Alpine with LibreSSL | `/etc/ssl/cert.pem` |
///
/// The first file that is there is read; without any, the directory `/etc/ssl/certs`. `SSL_CERT_FILE` (one file) and
/// `SSL_CERT_DIR` (directories, `:` between them) stand for all of that if one of them is set: who sets them means them.
public struct SystemAnchors: Sendable {
    /// What was found.
    public let anchors: TrustAnchors

    private static let files = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem",
    ]

    /// Reads them now. Certificates that cannot be read are left out: one with a new kind of key must not cost all the others.
    ///
    /// - Parameters:
    ///   - file: What `SSL_CERT_FILE` says, nil if it is not set.
    ///   - directories: What `SSL_CERT_DIR` says.
    ///   - root: A directory under which the distribution's files are, for the roots of a container's image.
    public init(file: String?, directories: String?, root: String = "") {
        let files: [String]
        let places: [String]
        if file != nil || directories != nil {
            files = file.map { [$0] } ?? []
            places = directories?.split(at: ":").map(String.init) ?? []
        } else {
            files = Self.files.map { root + $0 }.first { InputFile.isReadable($0) }.map { [$0] } ?? []
            places = files.isEmpty ? [root + "/etc/ssl/certs", root + "/etc/pki/tls/certs"] : []
        }
        var found: Set<TrustCertificate> = []
        // Nobody here has chosen these files, and other things lie there too: what is left out is not worth a warning.
        for file in files { found.formUnion((try? CertificateFiles.read(file) { _, _ in }) ?? []) }
        for place in places {
            found.formUnion((try? CertificateFiles.read(directory: place, anyName: true) { _, _ in }) ?? [])
        }
        let looked = (files + places).isEmpty ? Self.files.map { root + $0 } : files + places
        let problem =
            "no certificate was found in \(looked.joined(separator: ", "));"
            + " install ca-certificates, or set SSL_CERT_FILE"
        anchors = TrustAnchors(index: AnchorIndex(found, problem: found.isEmpty ? problem : nil))
    }
}
