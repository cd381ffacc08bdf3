import LinuxSupport
public import NIOSSL

/// The TLS settings of a client.
public struct TLSClientSettings: Sendable {
    /// The oldest accepted version. TLS 1.3 is used if the server supports it.
    public var minimumVersion = TLSMinimumVersion.tls12

    /// The application protocols that are offered (ALPN, RFC 7301), for example `h2` and `http/1.1`, the preferred one
    /// first. If empty, none is offered.
    public var applicationProtocols: [String] = []

    /// The identity for mutual TLS; nil for none.
    public var identity: TLSClientIdentity?

    /// The time limit of `ServerTrustManager.evaluateOnline(_:forHost:)`. If it is exceeded, the server is refused with
    /// `TrustFailure.timedOut(_:)`.
    public var evaluationTimeLimit: Duration = .seconds(10)

    /// The curves of the key exchange; nil for the default of the TLS library.
    package var curves: [NIOTLSCurve]?

    /// Creates settings with the defaults.
    public init() {}
}

extension TLSClientSettings {
    /// Returns the configuration for NIOSSL. NIOSSL then verifies neither the chain nor the host, so a callback must do
    /// so.
    package func tlsConfiguration() throws(TLSSettingsError) -> TLSConfiguration {
        for name in applicationProtocols where !(1...255).contains(name.utf8.count) {
            throw .invalidApplicationProtocol(name)
        }
        guard evaluationTimeLimit > .zero else { throw .invalidTimeLimit(evaluationTimeLimit) }
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = minimumVersion == .tls13 ? .tlsv13 : .tlsv12
        // A key exchange with RSA has no forward secrecy (RFC 9325, 4.1).
        configuration.cipherSuites += ":!kRSA"
        configuration.certificateVerification = .noHostnameVerification
        // Otherwise the system's trust store would be read a second time, without use.
        configuration.trustRoots = .certificates([])
        configuration.applicationProtocols = applicationProtocols
        configuration.curves = curves
        if let identity {
            configuration.certificateChain = identity.certificateChain.map { .certificate($0) }
            configuration.privateKey = .privateKey(identity.privateKey)
        }
        return configuration
    }
}

/// The oldest accepted version of TLS. The newest version that both peers support is used. Versions before 1.2 are
/// always refused (RFC 8996).
public enum TLSMinimumVersion: String, Hashable, Sendable, CaseIterable {
    /// TLS 1.2 (RFC 5246).
    case tls12 = "1.2"
    /// TLS 1.3 (RFC 8446).
    case tls13 = "1.3"
}

/// The reason why TLS settings are not usable.
public enum TLSSettingsError: Error, Hashable, Sendable {
    /// The name of an application protocol is empty or longer than 255 bytes (RFC 7301, section 3.1).
    case invalidApplicationProtocol(String)

    /// The time limit of an evaluation is not positive.
    case invalidTimeLimit(Duration)

    /// The TLS library refuses the settings. The text is the reason of the library.
    case refused(String)
}

extension TLSSettingsError: CustomStringConvertible {
    /// The reason, and a hint.
    public var description: String {
        switch self {
        case .invalidApplicationProtocol(let name):
            "cannot offer the application protocol \"\(name)\": it must have 1 to 255 bytes"
        case .invalidTimeLimit(let limit):
            "cannot use an evaluation time limit of \(limit): it must be positive"
        case .refused(let cause): "the TLS library refused the settings: \(cause)"
        }
    }
}

/// The identity of a client for mutual TLS: its certificate, the certificates of the authorities above it, and its key.
///
/// The files are read and checked against each other by the initializer, so errors appear before the first connection.
public struct TLSClientIdentity: Sendable {
    /// The certificates, the client's own first.
    public let certificateChain: [NIOSSLCertificate]

    /// The key of the first certificate.
    public let privateKey: NIOSSLPrivateKey

    /// The maximum size of a file in bytes.
    private static let limit = 1 << 20

    /// Reads certificates and key from PEM files, which may be the same file. Blocks the thread.
    ///
    /// - Parameters:
    ///   - certificateFile: The path of the file with the client's certificate, then those of the authorities above it.
    ///     The root may be omitted.
    ///   - keyFile: The path of the file with the client's key, in PKCS #8, encrypted or not, or in the older formats
    ///     of RSA and EC.
    ///   - passphrase: The passphrase of an encrypted key, in ASCII. It is not stored.
    /// - Throws: ``TLSIdentityError``, which names the file.
    public init(
        certificateFile: String,
        keyFile: String,
        passphrase: [UInt8]? = nil
    ) throws(TLSIdentityError) {
        try self.init(
            certificates: PEMInput(name: certificateFile, bytes: try Self.content(certificateFile)),
            key: PEMInput(name: keyFile, bytes: try Self.content(keyFile)),
            passphrase: passphrase
        )
    }

    /// Parses certificates and key from PEM text.
    ///
    /// - Parameters:
    ///   - certificatePEM: The client's certificate, then those of the authorities above it. The root may be omitted.
    ///   - keyPEM: The client's key.
    ///   - passphrase: The passphrase of an encrypted key, in ASCII. It is not stored.
    /// - Throws: ``TLSIdentityError``.
    public init(certificatePEM: [UInt8], keyPEM: [UInt8], passphrase: [UInt8]? = nil) throws(TLSIdentityError) {
        try self.init(
            certificates: PEMInput(name: "the given text", bytes: certificatePEM),
            key: PEMInput(name: "the given text", bytes: keyPEM),
            passphrase: passphrase
        )
    }

    private init(certificates: PEMInput, key: PEMInput, passphrase: [UInt8]?) throws(TLSIdentityError) {
        certificateChain = try certificates.certificates()
        privateKey = try key.privateKey(passphrase: passphrase)
        // Checks that the TLS library can use the certificates, and then that the key belongs to them.
        do {
            _ = try Self.context(certificateChain, key: nil)
        } catch {
            throw .unusableCertificate(file: certificates.name, cause: "\(error)")
        }
        do {
            _ = try Self.context(certificateChain, key: privateKey)
        } catch {
            throw .keyMismatch(certificateFile: certificates.name, keyFile: key.name)
        }
    }

    private static func content(_ path: String) throws(TLSIdentityError) -> [UInt8] {
        do {
            return try InputFile.read(path, limit: limit)
        } catch {
            throw .unreadable(file: path, cause: error.description)
        }
    }

    private static func context(_ chain: [NIOSSLCertificate], key: NIOSSLPrivateKey?) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .certificates([])
        configuration.certificateChain = chain.map { .certificate($0) }
        configuration.privateKey = key.map { .privateKey($0) }
        return try NIOSSLContext(configuration: configuration)
    }
}

/// A PEM text (RFC 7468), and its name in error messages.
struct PEMInput {
    let name: String
    let bytes: [UInt8]

    /// Returns all certificates in the order of the text; at least one.
    func certificates() throws(TLSIdentityError) -> [NIOSSLCertificate] {
        guard !isBlank else { throw .empty(file: name) }
        let certificates: [NIOSSLCertificate]
        do {
            certificates = try NIOSSLCertificate.fromPEMBytes(bytes)
        } catch {
            throw .noCertificate(file: name)
        }
        guard !certificates.isEmpty else { throw .noCertificate(file: name) }
        return certificates
    }

    /// Returns the first key.
    func privateKey(passphrase: [UInt8]?) throws(TLSIdentityError) -> NIOSSLPrivateKey {
        guard !isBlank else { throw .empty(file: name) }
        guard isEncrypted else {
            do {
                return try NIOSSLPrivateKey(bytes: bytes, format: .pem)
            } catch {
                throw .noKey(file: name)
            }
        }
        guard let passphrase else { throw .passphraseMissing(file: name) }
        // NIOSSL may trap on other passphrases, depending on the machine.
        guard passphrase.allSatisfy({ $0 > 0 && $0 < 0x80 }) else { throw .unsupportedPassphrase(file: name) }
        do {
            return try NIOSSLPrivateKey(bytes: bytes, format: .pem) { (set: NIOSSLPassphraseSetter<[UInt8]>) in
                set(passphrase)
            }
        } catch {
            throw .wrongPassphrase(file: name)
        }
    }

    private var isBlank: Bool { bytes.allSatisfy { $0 == 0x20 || (0x09...0x0d).contains($0) } }

    /// A Boolean value that indicates whether the key is encrypted, according to the label of PKCS #8 (RFC 7468, 11) or
    /// a header of the older formats (RFC 1421, 4.6.1.1).
    private var isEncrypted: Bool {
        String(decoding: bytes, as: UTF8.self).lines.contains { line in
            line.hasPrefix("-----BEGIN ENCRYPTED PRIVATE KEY-----")
                || line.hasPrefix("Proc-Type:") && line.hasSuffix("ENCRYPTED")
        }
    }
}

/// The reason why files or texts are not a usable identity. `file` is the path, or indicates that text was given.
public enum TLSIdentityError: Error, Hashable, Sendable {
    /// The file cannot be read; `cause` is the text of the system.
    case unreadable(file: String, cause: String)
    /// The file is empty.
    case empty(file: String)
    /// The file contains no certificate in PEM, or one that cannot be parsed.
    case noCertificate(file: String)
    /// TLS cannot use the certificate, because its key is not RSA, EC or Ed25519. `cause` is the text of the TLS library.
    case unusableCertificate(file: String, cause: String)
    /// The file contains no private key in PEM, or one that cannot be parsed.
    case noKey(file: String)
    /// The key is encrypted, and no passphrase was given.
    case passphraseMissing(file: String)
    /// The passphrase contains bytes that are not ASCII.
    case unsupportedPassphrase(file: String)
    /// The key cannot be decrypted: the passphrase is wrong, the key is damaged, or its encryption is not supported.
    case wrongPassphrase(file: String)
    /// The key does not belong to the first certificate.
    case keyMismatch(certificateFile: String, keyFile: String)
}

extension TLSIdentityError: CustomStringConvertible {
    /// The file, the reason, and a hint.
    public var description: String {
        switch self {
        case .unreadable(let file, let cause): "cannot read \(file): \(cause)"
        case .empty(let file): "cannot use \(file): it is empty"
        case .noCertificate(let file):
            "cannot read a certificate from \(file): it must contain certificates in PEM, the client's own first"
        case .unusableCertificate(let file, let cause):
            "cannot use the certificate of \(file) with TLS: \(cause); its key must be RSA, EC or Ed25519"
        case .noKey(let file): "cannot read a private key from \(file): it must contain a key in PEM"
        case .passphraseMissing(let file): "cannot read the key of \(file): it is encrypted; set its passphrase"
        case .unsupportedPassphrase(let file):
            "cannot decrypt the key of \(file): the passphrase is not ASCII; encrypt the key again with another one"
        case .wrongPassphrase(let file):
            "cannot decrypt the key of \(file): the passphrase is wrong, or the key is damaged or encrypted with an old "
                + "cipher (`openssl pkcs8 -topk8 -v2 aes-256-cbc` encrypts it again)"
        case .keyMismatch(let certificateFile, let keyFile):
            "cannot use the key of \(keyFile): it does not belong to the first certificate of \(certificateFile)"
        }
    }
}
