import LinuxSupport
import X509

/// The trust anchors of an evaluation (RFC 5280, 6.1.1): root certificates, or certificates of single servers. Copies
/// share one index.
public struct TrustAnchors: Sendable {
    private let source: AnchorSource

    var index: AnchorIndex { source.index }

    init(_ read: @escaping @Sendable () -> AnchorIndex) {
        source = AnchorSource(read)
    }

    init(index: AnchorIndex) {
        self.init { index }
    }

    /// Creates anchors from these certificates alone. If the list is empty, no server is trusted.
    public init(_ certificates: [TrustCertificate]) {
        self.init(index: AnchorIndex(certificates, problem: certificates.isEmpty ? "the list is empty" : nil))
    }

    /// The root certificates of this machine, as ``SystemAnchors`` finds them.
    ///
    /// The first evaluation that needs them reads the files once, which takes some tens of milliseconds. If none are
    /// found, no server is trusted, and the failure lists the files that were searched
    /// (``TrustFailure/noAnchors(_:)``).
    public static let system = systemNow()

    /// Returns the root certificates of this machine, which the first evaluation with the returned value reads again.
    package static func systemNow() -> TrustAnchors {
        TrustAnchors {
            SystemAnchors(
                file: EnvironmentVariable.value(of: "SSL_CERT_FILE"),
                directories: EnvironmentVariable.value(of: "SSL_CERT_DIR")
            ).anchors.index
        }
    }

    /// Returns these anchors together with others, for example the roots of this machine and a private root. Reads no
    /// files yet.
    public func adding(_ certificates: [TrustCertificate]) -> TrustAnchors {
        TrustAnchors { AnchorIndex(index.all.union(certificates)) }
    }

    /// The number of anchors. Reads the files if they have not been read.
    public var count: Int { index.all.count }

    /// The anchors, in no particular order. Reads the files if they have not been read.
    public var certificates: [TrustCertificate] { Array(index.all) }
}

extension TrustAnchors: Hashable {
    /// Returns whether both contain the same certificates.
    public static func == (one: TrustAnchors, other: TrustAnchors) -> Bool {
        one.source === other.source || one.index.all == other.index.all
    }

    /// Hashes only the number of anchors, because different sets of anchors are seldom compared.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(index.all.count)
    }
}

/// Anchors that are read once, at first use. Thread-safe.
final class AnchorSource: Sendable {
    private let read: @Sendable () -> AnchorIndex
    private let known: Locked<AnchorIndex?>

    init(_ read: @escaping @Sendable () -> AnchorIndex) {
        self.read = read
        known = Locked(nil)
    }

    /// The anchors. The first call reads them, and concurrent calls wait for it.
    var index: AnchorIndex {
        known.withLock { known in
            if let known { return known }
            let index = read()
            known = index
            return index
        }
    }
}

/// The root certificates of the Linux distribution.
///
/// | Distribution | File |
/// |---|---|
/// | Debian, Ubuntu, Alpine, Arch | `/etc/ssl/certs/ca-certificates.crt` |
/// | Fedora, RHEL | `/etc/pki/tls/certs/ca-bundle.crt`, `/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem` |
/// | openSUSE | `/etc/ssl/ca-bundle.pem` |
/// | Alpine with LibreSSL | `/etc/ssl/cert.pem` |
///
/// The first readable file of the table is used. If none is readable, the directories `/etc/ssl/certs` and
/// `/etc/pki/tls/certs` are used. If `SSL_CERT_FILE` (one file) or `SSL_CERT_DIR` (directories, separated by `:`) is
/// set, only the files of these variables are used.
public struct SystemAnchors: Sendable {
    /// The certificates that were found.
    public let anchors: TrustAnchors

    private static let files = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem",
    ]

    /// Reads the files immediately. Certificates that cannot be read are skipped, because one unsupported kind of key
    /// must not make all other roots unusable.
    ///
    /// - Parameters:
    ///   - file: The value of `SSL_CERT_FILE`; nil if it is not set.
    ///   - directories: The value of `SSL_CERT_DIR`; nil if it is not set.
    ///   - root: The directory that contains the distribution's files, for example the root of a container image. It
    ///     does not apply to `file` and `directories`.
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
        // Skipped certificates are not logged, because the user has not chosen these files, and the directories contain
        // other files too.
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

/// An index of anchors by subject. Created once, and shared by all evaluations with the same anchors.
final class AnchorIndex: Sendable {
    let all: Set<TrustCertificate>
    private let bySubject: [DistinguishedName: [TrustCertificate]]
    /// The reason why the index is empty; nil if it is not empty.
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

    /// Returns the anchors whose subject is the issuer name of a certificate.
    func issuers(of certificate: TrustCertificate) -> [TrustCertificate] {
        bySubject[certificate.x509.issuer] ?? []
    }
}
