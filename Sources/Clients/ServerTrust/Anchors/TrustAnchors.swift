import LinuxSupport
import X509

/// Whom trust begins with: authorities, or servers' own certificates. Copies share one index.
public struct TrustAnchors: Sendable {
    private let source: AnchorSource

    var index: AnchorIndex { source.index }

    init(_ read: @escaping @Sendable () -> AnchorIndex) {
        source = AnchorSource(read)
    }

    init(index: AnchorIndex) {
        self.init { index }
    }

    /// These and no others; nobody if there are none.
    public init(_ certificates: [TrustCertificate]) {
        self.init(index: AnchorIndex(certificates, problem: certificates.isEmpty ? "an empty list was given" : nil))
    }

    /// The roots of this machine, as ``SystemAnchors`` finds them. They are read once, by the first evaluation that needs them, which
    /// reads files and takes some tens of milliseconds. A program that finds none trusts nobody, and its failures say what was
    /// looked for (``TrustFailure/noAnchors(_:)``).
    public static let system = systemNow()

    /// The same, read anew by the first evaluation that needs these.
    package static func systemNow() -> TrustAnchors {
        TrustAnchors {
            SystemAnchors(
                file: EnvironmentVariable.value(of: "SSL_CERT_FILE"),
                directories: EnvironmentVariable.value(of: "SSL_CERT_DIR")
            ).anchors.index
        }
    }

    /// These and others: the roots of this machine and one of your own, for example. Nothing is read yet.
    public func adding(_ certificates: [TrustCertificate]) -> TrustAnchors {
        TrustAnchors { AnchorIndex(index.all.union(certificates)) }
    }

    /// How many there are.
    public var count: Int { index.all.count }

    /// In no order.
    public var certificates: [TrustCertificate] { Array(index.all) }
}

extension TrustAnchors: Hashable {
    /// Whether the same certificates are trusted.
    public static func == (one: TrustAnchors, other: TrustAnchors) -> Bool {
        one.source === other.source || one.index.all == other.index.all
    }

    /// Only the number, for others are seldom compared.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(index.all.count)
    }
}

/// Anchors that are read when somebody first needs them, once.
final class AnchorSource: Sendable {
    private let read: @Sendable () -> AnchorIndex
    private let known: Locked<AnchorIndex?>

    init(_ read: @escaping @Sendable () -> AnchorIndex) {
        self.read = read
        known = Locked(nil)
    }

    /// What has been read. Whoever else needs it while it is being read waits for it.
    var index: AnchorIndex {
        known.withLock { known in
            if let known { return known }
            let index = read()
            known = index
            return index
        }
    }
}

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

/// Certificates by their subjects. Made once, shared by all who trust the same.
final class AnchorIndex: Sendable {
    let all: Set<TrustCertificate>
    private let bySubject: [DistinguishedName: [TrustCertificate]]
    /// Why there are none, if there are none.
    let problem: String?

    init(_ certificates: some Sequence<TrustCertificate>, problem: String? = nil) {
        all = Set(certificates)
        bySubject = Dictionary(grouping: all.sorted { $0.fingerprint.lexicographicallyPrecedes($1.fingerprint) }) {
            $0.x509.subject
        }
        self.problem = problem
    }

    func contains(_ certificate: TrustCertificate) -> Bool {
        all.contains(certificate)
    }

    /// Those who may have issued a certificate, by name.
    func issuers(of certificate: TrustCertificate) -> [TrustCertificate] {
        bySubject[certificate.x509.issuer] ?? []
    }
}
