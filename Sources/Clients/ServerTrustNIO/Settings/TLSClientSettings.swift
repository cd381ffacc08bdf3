import LinuxSupport
public import NIOSSL

/// The settings of a TLS client for all servers.
public struct TLSClientSettings: Sendable {
    /// The oldest accepted version. TLS 1.3 is used if the server supports it.
    public var minimumVersion = TLSMinimumVersion.tls12

    /// The offered application protocols (ALPN, RFC 7301), the preferred one first: `h2`, `http/1.1`. If empty, none is offered.
    public var applicationProtocols: [String] = []

    /// The identity for mutual TLS; nil for none.
    public var identity: TLSClientIdentity?

    /// The time limit of `ServerTrustManager.evaluateOnline(_:forHost:)`. After it the server is refused with
    /// `TrustFailure.timedOut(_:)`.
    public var evaluationTimeLimit: Duration = .seconds(10)

    /// The curves of the key exchange; nil for those of the TLS library.
    package var curves: [NIOTLSCurve]?

    /// All at their defaults.
    public init() {}
}

extension TLSClientSettings {
    /// Returns the configuration for NIOSSL, which then checks neither chain nor host. A callback must.
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

/// The oldest accepted version of TLS. The newest version that both sides support is used. Versions before 1.2 are always refused
/// (RFC 8996).
public enum TLSMinimumVersion: String, Hashable, Sendable, CaseIterable {
    /// TLS 1.2 (RFC 5246).
    case tls12 = "1.2"
    /// TLS 1.3 (RFC 8446).
    case tls13 = "1.3"
}

/// The reason why settings are not usable.
public enum TLSSettingsError: Error, Hashable, Sendable {
    /// The name of an application protocol is empty or longer than 255 bytes (RFC 7301, section 3.1).
    case invalidApplicationProtocol(String)

    /// The time limit of an evaluation is not positive.
    case invalidTimeLimit(Duration)

    /// The TLS library refuses the settings; the text is the library's.
    case refused(String)
}

extension TLSSettingsError: CustomStringConvertible {
    /// The error, and a hint.
    public var description: String {
        switch self {
        case .invalidApplicationProtocol(let name):
            "\"\(name)\" cannot be offered as application protocol: it must have 1 to 255 bytes"
        case .invalidTimeLimit(let limit):
            "the time limit of evaluations is \(limit), and no server is trusted in no time: give more"
        case .refused(let cause): "the TLS library does not take the settings: \(cause)"
        }
    }
}

/// The identity of a client for mutual TLS: its certificate, those of the authorities above it, and its key.
///
/// The files are read and checked against each other when the value is created, so a wrong file shows without a connection.
public struct TLSClientIdentity: Sendable {
    /// The client's own certificate first.
    public let certificateChain: [NIOSSLCertificate]

    /// The key of the first certificate.
    public let privateKey: NIOSSLPrivateKey

    /// The maximum size of a file in bytes.
    private static let limit = 1 << 20

    /// Reads both from files in PEM, which may be the same file. Blocks the thread.
    ///
    /// - Parameters:
    ///   - certificateFile: The client's certificate, then those of the authorities above it; the root may be left out.
    ///   - keyFile: Its key: PKCS #8, encrypted or not, or the older forms of RSA and EC.
    ///   - passphrase: The passphrase of an encrypted key, in ASCII. It is not kept.
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

    /// Reads both from text in PEM.
    ///
    /// - Parameters:
    ///   - certificatePEM: The client's certificate, then those of the authorities above it; the root may be left out.
    ///   - keyPEM: Its key.
    ///   - passphrase: The passphrase of an encrypted key, in ASCII. It is not kept.
    /// - Throws: ``TLSIdentityError``.
    public init(certificatePEM: [UInt8], keyPEM: [UInt8], passphrase: [UInt8]? = nil) throws(TLSIdentityError) {
        try self.init(
            certificates: PEMInput(name: "the text given", bytes: certificatePEM),
            key: PEMInput(name: "the text given", bytes: keyPEM),
            passphrase: passphrase
        )
    }

    private init(certificates: PEMInput, key: PEMInput, passphrase: [UInt8]?) throws(TLSIdentityError) {
        certificateChain = try certificates.certificates()
        privateKey = try key.privateKey(passphrase: passphrase)
        try Self.check(certificateChain, from: certificates.name)
        try Self.check(certificateChain, privateKey, from: certificates.name, keyFile: key.name)
    }

    private static func content(_ path: String) throws(TLSIdentityError) -> [UInt8] {
        do {
            return try InputFile.read(path, limit: limit)
        } catch {
            throw .unreadable(file: path, cause: error.description)
        }
    }

    /// Checks that the TLS library can use the certificates.
    private static func check(_ chain: [NIOSSLCertificate], from name: String) throws(TLSIdentityError) {
        do {
            _ = try context(chain, key: nil)
        } catch {
            throw .unusableCertificate(file: name, cause: "\(error)")
        }
    }

    /// Checks that the key belongs to the certificate.
    private static func check(
        _ chain: [NIOSSLCertificate],
        _ key: NIOSSLPrivateKey,
        from name: String,
        keyFile: String
    ) throws(TLSIdentityError) {
        do {
            _ = try context(chain, key: key)
        } catch {
            throw .keyMismatch(certificateFile: name, keyFile: keyFile)
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

/// Text in PEM (RFC 7468), and the name that errors give it.
struct PEMInput {
    let name: String
    let bytes: [UInt8]

    /// Returns all certificates in sequence; at least one.
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
        // NIOSSL may trap on other keys, depending on the machine.
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

    /// A Boolean value that indicates whether the key is encrypted: by the label of PKCS #8 (RFC 7468, 11), or by a
    /// header of the older forms (RFC 1421, 4.6.1.1).
    private var isEncrypted: Bool {
        String(decoding: bytes, as: UTF8.self).lines.contains { line in
            line.hasPrefix("-----BEGIN ENCRYPTED PRIVATE KEY-----")
                || line.hasPrefix("Proc-Type:") && line.hasSuffix("ENCRYPTED")
        }
    }
}

/// The reason why files or texts are not an identity. `file` is the path, or states that text was given.
public enum TLSIdentityError: Error, Hashable, Sendable {
    /// The file cannot be read; `cause` is the text of the system.
    case unreadable(file: String, cause: String)
    /// The file is empty.
    case empty(file: String)
    /// The file has no certificate in PEM, or one that cannot be parsed.
    case noCertificate(file: String)
    /// TLS cannot use the certificate, because its key is not RSA, EC or Ed25519. `cause` is the text of the TLS library.
    case unusableCertificate(file: String, cause: String)
    /// The file has no private key in PEM, or one that cannot be parsed.
    case noKey(file: String)
    /// The key is encrypted, and no passphrase was given.
    case passphraseMissing(file: String)
    /// The passphrase has bytes other than ASCII.
    case unsupportedPassphrase(file: String)
    /// The passphrase does not decrypt the key, or the key is damaged, or encrypted in a way that is not supported.
    case wrongPassphrase(file: String)
    /// The key is not the one the first certificate is for.
    case keyMismatch(certificateFile: String, keyFile: String)
}

extension TLSIdentityError: CustomStringConvertible {
    /// The file, the error, and a hint.
    public var description: String {
        switch self {
        case .unreadable(let file, let cause): "cannot read \(file): \(cause)"
        case .empty(let file): "\(file) is empty"
        case .noCertificate(let file):
            "\(file) has no certificate that can be read: it must be in PEM, the client's own first"
        case .unusableCertificate(let file, let cause):
            "the certificate of \(file) cannot be used with TLS: \(cause); it must be for an RSA, EC or Ed25519 key"
        case .noKey(let file): "\(file) has no private key that can be read: it must be in PEM"
        case .passphraseMissing(let file): "the key of \(file) is encrypted: give its passphrase"
        case .unsupportedPassphrase(let file):
            "the passphrase for the key of \(file) is not ASCII: encrypt the key again with one that is"
        case .wrongPassphrase(let file):
            "the key of \(file) cannot be decrypted: the passphrase is wrong, or the key is damaged or encrypted with an old "
                + "cipher (`openssl pkcs8 -topk8 -v2 aes-256-cbc` encrypts it anew)"
        case .keyMismatch(let certificateFile, let keyFile):
            "the key of \(keyFile) does not belong to the first certificate of \(certificateFile)"
        }
    }
}
